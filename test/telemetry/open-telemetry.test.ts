import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import {
  AggregationTemporality,
  type Histogram,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { createTelemetry } from 'mooring/otel';
import { verifies } from '../requirements.js';
import { startFaultyServer } from '../support/faulty-server.js';
import { startSdkServer } from '../support/sdk-server.js';
import { codeOf, everyWay, openHost } from '../support/ways.js';

function startTelemetry(t: TestContext) {
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 60_000 });
  const meterProvider = new MeterProvider({ readers: [reader] });
  const spans = new InMemorySpanExporter();
  const tracerProvider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] });
  const telemetry = createTelemetry({ meterProvider, tracerProvider });
  t.after(async () => {
    telemetry.close();
    await meterProvider.shutdown();
  });
  return {
    telemetry,
    spans,
    /** Attributes, and how often, by the name of a histogram. */
    async points(
      name: string,
    ): Promise<{ attributes: Record<string, unknown>; count: number; sum: number }[]> {
      await meterProvider.forceFlush();
      const metrics =
        exporter
          .getMetrics()
          .at(-1)
          ?.scopeMetrics.flatMap((scope) => scope.metrics) ?? [];
      const found = metrics.find(({ descriptor }) => descriptor.name === name);
      assert.equal(found?.descriptor.unit ?? 's', 's');
      return (found?.dataPoints ?? []).map(({ attributes, value }) => {
        const { count, sum = 0 } = value as Histogram;
        return { attributes, count, sum };
      });
    },
  };
}

everyWay('measures each request and each session', async (t, { way, major }) => {
  verifies('telemetry/durations');
  const server = await startSdkServer({ major });
  t.after(() => server.stop());
  const told = startTelemetry(t);
  const host = await openHost(t, { way, major }, server.url);
  await host.call('count', { key: 'a' });
  await host.call('slow', { key: 'b', ms: 300 });
  server.expireAll();
  await host.call('count', { key: 'c' });
  await host.close();

  const operations = await told.points('mcp.client.operation.duration');
  const of = (tool: string) => operations.find(({ attributes }) => attributes['gen_ai.tool.name'] === tool);
  assert.equal(of('count')?.count, 2);
  assert.equal(of('slow')?.count, 1);
  const seconds = of('slow')?.sum ?? 0;
  assert.ok(seconds >= 0.3 && seconds < 30, `${seconds} s`);
  const { hostname, port } = new URL(server.url);
  const { 'mcp.protocol.version': version, ...attributes } = of('slow')?.attributes ?? {};
  assert.match(String(version), /^2025-/);
  assert.deepEqual(attributes, {
    'mcp.method.name': 'tools/call',
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': 'slow',
    'network.transport': 'tcp',
    'network.protocol.name': 'http',
    'server.address': hostname,
    'server.port': Number(port),
  });

  const sessions = await told.points('mcp.client.session.duration');
  const reasons = sessions.map(({ attributes, count }) => `${String(attributes['error.type'])} ${count}`);
  assert.deepEqual(reasons.toSorted(), ['expired 1', 'undefined 1']);

  const names = told.spans.getFinishedSpans().map(({ name }) => name);
  assert.deepEqual(
    names.filter((name) => name.startsWith('tools/call')),
    ['tools/call count', 'tools/call slow', 'tools/call count'],
  );
  assert.ok(names.includes('initialize'));
  const text = JSON.stringify(told.spans.getFinishedSpans().map((span) => span.attributes));
  assert.ok(!text.includes('mcp.session.id'));
  for (const id of server.log.issued()) assert.ok(!text.includes(id ?? '-'));
});

everyWay('names what went wrong', async (t, { way, major }) => {
  verifies('telemetry/durations');
  const server = await startFaultyServer();
  t.after(() => server.stop());
  const told = startTelemetry(t);
  const host = await openHost(t, { way, major }, server.url);
  server.faults.calls = [{ kind: 'destroy' }];
  assert.equal(await codeOf(host.call('count', { key: 'a' })), 'MOORING_OUTCOME_UNKNOWN');
  const failed = (await told.points('mcp.client.operation.duration')).filter(
    ({ attributes }) => attributes['error.type'] !== undefined,
  );
  assert.deepEqual(
    failed.map(({ attributes, count }) => [attributes['error.type'], count]),
    [['MOORING_OUTCOME_UNKNOWN', 1]],
  );
  told.telemetry.close();
  await host.call('count', { key: 'b' });
  const counts = await told.points('mcp.client.operation.duration');
  assert.equal(
    counts.reduce(
      (sum, { attributes, count }) => sum + (attributes['gen_ai.tool.name'] === 'count' ? count : 0),
      0,
    ),
    1,
  );
});
