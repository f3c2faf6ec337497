fn main() {
    let _ = protolink::ToolSpec { name: "search".to_owned() };
}
