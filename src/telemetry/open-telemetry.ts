/**
 * OpenTelemetry from what is told over node:diagnostics_channel: two histograms, and a span for each request.
 * Owns: names and attributes, as in the semantic conventions for MCP (status: development).
 * Refuses: session ids, also on spans (`mcp.session.id` is never set: a fingerprint is no id), arguments, results.
 */
import { context, metrics, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { listen, type RequestEvent, type SessionEvent } from '../events.js';

type Attributes = Record<string, string | number>;

/** The parts of OpenTelemetry's providers that are used; its own fit. */
export interface TelemetryOptions {
  /** @default the global one */
  meterProvider?: { getMeter(name: string, version?: string): MeterLike } | undefined;
  /** @default the global one */
  tracerProvider?: { getTracer(name: string, version?: string): TracerLike } | undefined;
}

interface MeterLike {
  createHistogram(
    name: string,
    options?: { description?: string; unit?: string; advice?: { explicitBucketBoundaries?: number[] } },
  ): { record(value: number, attributes?: Attributes): void };
}

interface TracerLike {
  startSpan(name: string, options?: { kind?: number; attributes?: Attributes }, parent?: unknown): SpanLike;
}

interface SpanLike {
  setAttributes(attributes: Attributes): unknown;
  setStatus(status: { code: number }): unknown;
  end(): void;
}

export interface Telemetry {
  /** Stops; spans of requests under way are ended. */
  close(): void;
}

const NAME = 'mooring';
/** Seconds; the boundaries that the conventions give. */
const BOUNDARIES = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300];
/** Ends of a session that were not meant. */
const FAILURES = new Set<string | undefined>(['expired', 'error']);

/**
 * Measures every session and request of this process: `mcp.client.session.duration` and
 * `mcp.client.operation.duration` (histograms, s), and a client span for each request, a child of whatever span is
 * active where it is made. Needs `@opentelemetry/api`.
 *
 * @example
 * ```ts
 * const telemetry = createTelemetry();
 * telemetry.close();
 * ```
 */
export function createTelemetry(options: TelemetryOptions = {}): Telemetry {
  const meter = (
    options.meterProvider ?? (metrics.getMeterProvider() as NonNullable<typeof options.meterProvider>)
  ).getMeter(NAME);
  const tracer = (
    options.tracerProvider ?? (trace.getTracerProvider() as NonNullable<typeof options.tracerProvider>)
  ).getTracer(NAME);
  const histogram = (name: string, description: string): ReturnType<MeterLike['createHistogram']> =>
    meter.createHistogram(name, {
      description,
      unit: 's',
      advice: { explicitBucketBoundaries: BOUNDARIES },
    });
  const sessions = histogram(
    'mcp.client.session.duration',
    'The duration of the MCP session as observed on the MCP client.',
  );
  const operations = histogram(
    'mcp.client.operation.duration',
    'The duration of the MCP request as observed on the sender, from the time it was sent until its response.',
  );
  const spans = new Map<symbol, SpanLike>();

  const onStarted = (event: RequestEvent): void => {
    const name = event.target === undefined ? event.method : `${event.method} ${event.target}`;
    const attributes = requestAttributes(event);
    spans.set(event.request, tracer.startSpan(name, { kind: SpanKind.CLIENT, attributes }, context.active()));
  };

  const onAnswered = (event: RequestEvent): void => {
    const attributes = requestAttributes(event);
    operations.record((event.durationMs ?? 0) / 1_000, attributes);
    const span = spans.get(event.request);
    if (span === undefined) return;
    spans.delete(event.request);
    span.setAttributes(attributes);
    if (event.error !== undefined) span.setStatus({ code: SpanStatusCode.ERROR });
    span.end();
  };

  const onRetired = (event: SessionEvent): void => {
    sessions.record((event.durationMs ?? 0) / 1_000, {
      ...serverAttributes(event),
      ...(FAILURES.has(event.reason) ? { 'error.type': String(event.reason) } : {}),
    });
  };

  const stops = [
    listen('requestStarted', onStarted),
    listen('requestAnswered', onAnswered),
    listen('retired', onRetired),
  ];
  return {
    close() {
      for (const stop of stops.splice(0)) stop();
      for (const span of spans.values()) span.end();
      spans.clear();
    },
  };
}

function requestAttributes(event: RequestEvent): Attributes {
  const { method, target, error, rpcCode } = event;
  return {
    'mcp.method.name': method,
    ...(method === 'tools/call' && target !== undefined
      ? { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': target }
      : {}),
    ...(method === 'prompts/get' && target !== undefined ? { 'gen_ai.prompt.name': target } : {}),
    ...(error === undefined ? {} : { 'error.type': error }),
    ...(rpcCode === undefined ? {} : { 'rpc.response.status_code': String(rpcCode) }),
    ...serverAttributes(event),
  };
}

function serverAttributes({
  origin,
  protocolVersion,
}: Pick<SessionEvent, 'origin' | 'protocolVersion'>): Attributes {
  const url = origin === undefined ? undefined : new URL(origin);
  return {
    ...(protocolVersion === undefined ? {} : { 'mcp.protocol.version': protocolVersion }),
    'network.transport': 'tcp',
    'network.protocol.name': 'http',
    ...(url === undefined
      ? {}
      : {
          'server.address': url.hostname,
          'server.port': Number(url.port) || (url.protocol === 'https:' ? 443 : 80),
        }),
  };
}
