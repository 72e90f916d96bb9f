//! Messages over stdio. The library's own server stops at the first message that it cannot read, and takes any length; an
//! editor that sends one such should not lose its language server.

use futures_util::future::{poll_fn, poll_immediate};
use futures_util::{SinkExt, StreamExt};
use serde_json::Value as Json;
use std::io::{BufRead, Read, Write};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Semaphore, mpsc};
use tower_lsp_server::jsonrpc::{Error, ErrorCode, Id, Request, Response};
use tower_lsp_server::{ClientSocket, LanguageServer, LspService};
use tower_service::Service;

/// Bytes of one message: a text at the limit of a spec, escaped to its longest, is far below this.
const BYTES: usize = 16 << 20;
/// Bytes of the lines before one.
const HEADER: u64 = 8 << 10;
/// Requests that are worked on at once.
const AT_ONCE: usize = 256;

/// What came in.
enum Incoming {
    Message(Json),
    /// Something that is no message; why.
    Unreadable(String),
}

/// One message, or `None` at the end of the input.
fn read(input: &mut impl BufRead) -> std::io::Result<Option<Incoming>> {
    let unreadable = |why: &str| Ok(Some(Incoming::Unreadable(why.to_owned())));
    let mut length: Option<usize> = None;
    let mut header = 0;
    loop {
        let mut line = Vec::new();
        input.by_ref().take(HEADER).read_until(b'\n', &mut line)?;
        if line.is_empty() {
            return Ok(None);
        }
        header += line.len() as u64;
        let line = String::from_utf8_lossy(&line);
        let line = line.trim();
        if line.is_empty() {
            break;
        }
        if header > HEADER {
            return unreadable("the lines before the message are too long");
        }
        if let Some((name, value)) = line.split_once(':')
            && name.trim().eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().ok();
        }
    }
    let Some(length) = length else { return unreadable("the message does not say its `Content-Length`") };
    if length > BYTES {
        std::io::copy(&mut input.by_ref().take(length as u64), &mut std::io::sink())?;
        return unreadable("the message is too long");
    }
    let mut bytes = Vec::new();
    if input.by_ref().take(length as u64).read_to_end(&mut bytes)? < length {
        return Ok(None);
    }
    match serde_json::from_slice(&bytes) {
        Ok(message) => Ok(Some(Incoming::Message(message))),
        Err(error) => unreadable(&format!("the message is no JSON: {error}")),
    }
}

/// Reads messages on a thread of its own, for nothing can break a read off.
fn reader() -> mpsc::Receiver<Incoming> {
    let (sender, receiver) = mpsc::channel(64);
    let work = move || {
        let mut input = std::io::BufReader::new(std::io::stdin());
        while let Ok(Some(incoming)) = read(&mut input) {
            if sender.blocking_send(incoming).is_err() {
                break;
            }
        }
    };
    // Without a thread the receiver is at its end at once, and so is the server.
    let _ = std::thread::Builder::new().name("stdin".to_owned()).spawn(work);
    receiver
}

/// Writes messages on a thread of its own, for a client that does not read must not keep us from reading.
fn writer() -> (mpsc::Sender<Json>, std::sync::mpsc::Receiver<()>) {
    let (sender, mut receiver) = mpsc::channel::<Json>(64);
    let (done, ended) = std::sync::mpsc::channel();
    let work = move || {
        let mut out = std::io::stdout();
        while let Some(message) = receiver.blocking_recv() {
            let body = message.to_string();
            let whole = format!("Content-Length: {}\r\n\r\n{body}", body.len());
            if out.write_all(whole.as_bytes()).and_then(|()| out.flush()).is_err() {
                break;
            }
        }
        let _ = done.send(());
    };
    let _ = std::thread::Builder::new().name("stdout".to_owned()).spawn(work);
    (sender, ended)
}

fn json(message: &impl serde::Serialize) -> Json {
    // The protocol's messages have no maps but those with texts as keys.
    serde_json::to_value(message).unwrap_or_default()
}

fn refusal(id: Id, code: ErrorCode, message: String) -> Json {
    json(&Response::from_error(id, Error { code, message: message.into(), data: None }))
}

/// Serves until the client says `exit` or is gone.
pub fn serve<S: LanguageServer>(
    mut service: LspService<S>,
    socket: ClientSocket,
) -> std::io::Result<LspService<S>> {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().max_blocking_threads(4).build()?;
    let (out, ended) = writer();
    runtime.block_on(converse(&mut service, socket, out));
    // What is still worked on has no one to hear of it.
    runtime.shutdown_background();
    let _ = ended.recv_timeout(Duration::from_secs(1));
    Ok(service)
}

async fn converse<S: LanguageServer>(
    service: &mut LspService<S>,
    socket: ClientSocket,
    out: mpsc::Sender<Json>,
) {
    let (mut requests, mut responses) = socket.split();
    let ours = out.clone();
    tokio::spawn(async move {
        while let Some(request) = requests.next().await {
            if ours.send(json(&request)).await.is_err() {
                break;
            }
        }
    });
    let free = Arc::new(Semaphore::new(AT_ONCE));
    let mut input = reader();
    while let Some(incoming) = input.recv().await {
        let message = match incoming {
            Incoming::Message(message) => message,
            Incoming::Unreadable(why) => {
                if out.send(refusal(Id::Null, ErrorCode::ParseError, why)).await.is_err() {
                    return;
                }
                continue;
            }
        };
        if message.get("method").is_none() {
            // An answer to one of our requests; of another kind it is nothing that could be answered.
            if let Ok(response) = serde_json::from_value::<Response>(message) {
                let _ = responses.send(response).await;
            }
            continue;
        }
        let request: Request = match serde_json::from_value(message) {
            Ok(request) => request,
            Err(error) => {
                let why = format!("the message is no request: {error}");
                if out.send(refusal(Id::Null, ErrorCode::InvalidRequest, why)).await.is_err() {
                    return;
                }
                continue;
            }
        };
        let exit = request.method() == "exit";
        let permit = match request.id() {
            None => None,
            Some(id) => match Arc::clone(&free).try_acquire_owned() {
                Ok(permit) => Some(permit),
                Err(_) => {
                    let why = format!("more than {AT_ONCE} requests at once; wait for their answers");
                    if out.send(refusal(id.clone(), ErrorCode::ServerError(-32802), why)).await.is_err() {
                        return;
                    }
                    continue;
                }
            },
        };
        if poll_fn(|context| service.poll_ready(context)).await.is_err() {
            return;
        }
        let mut answer = service.call(request);
        // Each message begins to take effect before the next one is looked at, so changes of a text stay in order.
        match poll_immediate(&mut answer).await {
            Some(answer) => {
                drop(permit);
                if let Ok(Some(answer)) = answer
                    && out.send(json(&answer)).await.is_err()
                {
                    return;
                }
            }
            None => {
                let out = out.clone();
                tokio::spawn(async move {
                    let answer = answer.await;
                    drop(permit);
                    if let Ok(Some(answer)) = answer {
                        let _ = out.send(json(&answer)).await;
                    }
                });
            }
        }
        if exit {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_message_does_not_end_the_reading() {
        let long = format!("Content-Length: {}\r\n\r\n{}", BYTES + 1, " ".repeat(BYTES + 1));
        let text = format!(
            "Content-Length: 2\r\n\r\n{{}}content-length: 1\r\nContent-Type: x\r\n\r\n{{X: 1\r\n\r\n{long}Content-Length: 4\r\n\r\nnullContent-Length: 9\r\n\r\n1"
        );
        let mut input = std::io::Cursor::new(text);
        let mut seen = Vec::new();
        while let Some(incoming) = read(&mut input).unwrap() {
            seen.push(match incoming {
                Incoming::Message(message) => message.to_string(),
                Incoming::Unreadable(why) => why.chars().take(24).collect(),
            });
        }
        assert_eq!(
            seen,
            ["{}", "the message is no JSON: ", "the message does not say", "the message is too long", "null"]
        );
    }
}
