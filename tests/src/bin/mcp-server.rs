//! The MCP server of the tests, over standard input and output.

use protolink_tests::mcp::Shelf;
use rmcp::ServiceExt;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    Shelf::new().serve(rmcp::transport::stdio()).await?.waiting().await?;
    Ok(())
}
