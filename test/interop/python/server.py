"""A server on the official Python SDK, major 1 or 2, by its session manager, with or without its idle timeout.

Prints its URL as a JSON line, then one for each request; GET /count tells what the SDK itself holds.
"""

import argparse
import asyncio
import contextlib
import json
import os
import socket
import sys
import threading

import uvicorn
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

try:  # major 2
    from mcp.server.mcpserver import MCPServer as Server
except ImportError:  # major 1
    from mcp.server.fastmcp import FastMCP as Server

parser = argparse.ArgumentParser()
parser.add_argument("--addr", default="127.0.0.1:0")
parser.add_argument("--session-timeout", type=float, default=None, help="seconds; never where it is not given")
arguments = parser.parse_args()

runs: dict[str, int] = {}
server = Server("python-server")


@server.tool()
async def count(key: str) -> str:
    """Counts at the server."""
    runs[key] = runs.get(key, 0) + 1
    return key


@server.tool()
async def slow(key: str, ms: int) -> str:
    """Takes ms."""
    runs[key] = runs.get(key, 0) + 1
    await asyncio.sleep(ms / 1000)
    return key


low_level = getattr(server, "_lowlevel_server", None) or server._mcp_server
manager = StreamableHTTPSessionManager(app=low_level, session_idle_timeout=arguments.session_timeout)


def say(**what) -> None:
    print(json.dumps(what), flush=True)


async def endpoint(scope, receive, send) -> None:
    body = b""
    more = scope["method"] == "POST"
    while more:
        message = await receive()
        body += message.get("body", b"")
        more = message.get("more_body", False)
    replayed = False

    async def again():
        nonlocal replayed
        if scope["method"] == "POST" and not replayed:
            replayed = True
            return {"type": "http.request", "body": body, "more_body": False}
        return await receive()

    status = 0

    async def watched(message) -> None:
        nonlocal status
        if message["type"] == "http.response.start":
            status = message["status"]
        await send(message)

    try:
        rpc = json.loads(body).get("method", "") if body else ""
    except (ValueError, AttributeError):
        rpc = ""
    if scope["method"] == "GET":
        say(event="get-opened")
    try:
        await manager.handle_request(scope, again, watched)
    finally:
        say(event="request", method=scope["method"], rpc=rpc, status=status)


async def app(scope, receive, send) -> None:
    if scope["type"] == "lifespan":
        return
    if scope["path"] != "/count":
        await endpoint(scope, receive, send)
        return
    held = len(manager._server_instances)
    body = json.dumps({"sessions": held, "runs": runs}).encode()
    headers = [(b"content-type", b"application/json")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def main() -> None:
    host, port = arguments.addr.rsplit(":", 1)
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((host, int(port)))
    listener.listen(128)
    http = uvicorn.Server(uvicorn.Config(app, log_level="error", lifespan="off"))
    async with manager.run():
        say(event="listening", url=f"http://{host}:{listener.getsockname()[1]}/mcp")
        await http.serve(sockets=[listener])


def end_with_parent() -> None:
    with contextlib.suppress(OSError):
        sys.stdin.read()
    os._exit(0)


threading.Thread(target=end_with_parent, daemon=True).start()
asyncio.run(main())
