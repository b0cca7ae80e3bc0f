/** `mooring/otel`: OpenTelemetry, for who has `@opentelemetry/api`. */
export { createTelemetry } from './telemetry/open-telemetry.js';
export type { Telemetry, TelemetryOptions } from './telemetry/open-telemetry.js';
