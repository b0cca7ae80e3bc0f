<?php
// The second public report's set-up in small: an MCP endpoint on PHP, where every request holds a worker, and a GET
// holds one for as long as its stream lasts. Sessions and counts are files below MCP_STATE.

declare(strict_types=1);

$state = $_SERVER['MCP_STATE'];
$streamSeconds = (int) $_SERVER['MCP_STREAM_S'];
$id = $_SERVER['HTTP_MCP_SESSION_ID'] ?? null;
$session = $id === null ? null : "$state/session-" . preg_replace('/[^0-9a-f]/', '', $id);

function answer(int $status, ?array $body = null, array $headers = []): never
{
    http_response_code($status);
    foreach ($headers as $name => $value) {
        header("$name: $value");
    }
    if ($body !== null) {
        header('Content-Type: application/json');
        echo json_encode($body);
    }
    exit;
}

function note(string $state, string $what): void
{
    file_put_contents("$state/log", "$what\n", FILE_APPEND | LOCK_EX);
}

note($state, $_SERVER['REQUEST_METHOD']);
if ($_SERVER['REQUEST_METHOD'] === 'GET') {
    if ($session === null || !is_file($session)) {
        answer($session === null ? 400 : 404);
    }
    header('Content-Type: text/event-stream');
    header('Cache-Control: no-cache');
    header('X-Accel-Buffering: no');
    // A client that has gone is noticed by writing to it, and ends the script: so nothing may be kept back here.
    while (ob_get_level() > 0) {
        ob_end_flush();
    }
    for ($second = 0; $second < $streamSeconds; $second++) {
        echo ": here\n\n";
        flush();
        sleep(1);
    }
    exit;
}
if ($_SERVER['REQUEST_METHOD'] === 'DELETE') {
    if ($session === null || !is_file($session)) {
        answer(404);
    }
    unlink($session);
    answer(200);
}
$message = json_decode(file_get_contents('php://input'), true);
$method = $message['method'] ?? '';
note($state, "rpc $method");
if ($method === 'initialize') {
    $new = bin2hex(random_bytes(16));
    touch("$state/session-$new");
    answer(200, [
        'jsonrpc' => '2.0',
        'id' => $message['id'],
        'result' => [
            'protocolVersion' => '2025-06-18',
            'capabilities' => ['tools' => new stdClass()],
            'serverInfo' => ['name' => 'php-server', 'version' => '1.0.0'],
        ],
    ], ['Mcp-Session-Id' => $new]);
}
if ($session === null || !is_file($session)) {
    answer($session === null ? 400 : 404, [
        'jsonrpc' => '2.0',
        'id' => null,
        'error' => ['code' => -32001, 'message' => 'Session not found'],
    ]);
}
if (!isset($message['id'])) {
    answer(202);
}
if ($method === 'tools/call') {
    note($state, 'ran ' . ($message['params']['arguments']['key'] ?? ''));
    $result = ['content' => [['type' => 'text', 'text' => 'counted']]];
} else {
    $result = $method === 'tools/list' ? ['tools' => []] : new stdClass();
}
answer(200, ['jsonrpc' => '2.0', 'id' => $message['id'], 'result' => $result]);
