//! As much of HTTP/1.1 as a client of a model speaks.

use std::fmt::Write as _;
use std::io;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::reply::{Ending, Part, ServerReply, Written};
use super::request::ServerRequest;

/// More than any request of a test holds.
const LONGEST: usize = 256 << 20;

/// Reads the next request; `None` where the client has hung up. What came after it stays in `unread`.
pub(super) async fn read(connection: &mut TcpStream, unread: &mut Vec<u8>) -> io::Result<Option<ServerRequest>> {
    let head_end = loop {
        if let Some(position) = unread.windows(4).position(|window| window == b"\r\n\r\n") {
            break position + 4;
        }
        if connection.read_buf(unread).await? == 0 {
            return Ok(None);
        }
    };
    let head = String::from_utf8_lossy(&unread[..head_end]).into_owned();
    let mut lines = head.split("\r\n");
    let mut words = lines.next().unwrap_or_default().split(' ').map(str::to_owned);
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.trim().to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    let length = headers.iter().find(|(name, _)| name == "content-length").map(|(_, value)| value.parse::<usize>());
    let length = length.transpose().ok().flatten().unwrap_or(0);
    if length > LONGEST {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    while unread.len() < head_end + length {
        if connection.read_buf(unread).await? == 0 {
            return Ok(None);
        }
    }
    let rest = unread.split_off(head_end + length);
    let body = std::mem::replace(unread, rest).split_off(head_end);
    Ok(Some(ServerRequest { method, path, headers, body }))
}

/// Writes a reply; `false` where the connection is to be closed.
pub(super) async fn write(connection: &mut TcpStream, reply: ServerReply) -> io::Result<bool> {
    let (written, ending) = reply.into_written();
    let head = head(&written, ending);
    let streamed = written.streamed;
    let mut started = false;
    for part in written.body {
        match part {
            // A server that thinks has not sent its headers yet.
            Part::Pause(pause) => tokio::time::sleep(pause).await,
            Part::Bytes(bytes) => {
                if !std::mem::replace(&mut started, true) {
                    connection.write_all(head.as_bytes()).await?;
                }
                if streamed {
                    if bytes.is_empty() {
                        // A chunk of no bytes would end the body.
                        continue;
                    }
                    connection.write_all(format!("{:x}\r\n", bytes.len()).as_bytes()).await?;
                }
                connection.write_all(&bytes).await?;
                if streamed {
                    connection.write_all(b"\r\n").await?;
                }
                connection.flush().await?;
            }
        }
    }
    if !started {
        connection.write_all(head.as_bytes()).await?;
    }
    match ending {
        Ending::Proper if streamed => connection.write_all(b"0\r\n\r\n").await?,
        Ending::Proper => {}
        Ending::Cut => {
            connection.shutdown().await?;
            return Ok(false);
        }
        Ending::Hang => std::future::pending::<()>().await,
    }
    connection.flush().await?;
    Ok(true)
}

fn head(written: &Written, ending: Ending) -> String {
    if written.raw {
        return String::new();
    }
    // Writing to a string does not fail.
    let mut head = format!("HTTP/1.1 {} scripted\r\n", written.status);
    for (name, value) in &written.headers {
        let _ = write!(head, "{name}: {value}\r\n");
    }
    if written.streamed {
        head.push_str("transfer-encoding: chunked\r\n");
    } else {
        let length = |part: &Part| if let Part::Bytes(bytes) = part { bytes.len() } else { 0 };
        let length: usize = written.body.iter().map(length).sum();
        // A body that is cut, or stops, was promised to be longer.
        let missing = usize::from(ending != Ending::Proper);
        let _ = write!(head, "content-length: {}\r\n", length + missing);
    }
    head.push_str("\r\n");
    head
}
