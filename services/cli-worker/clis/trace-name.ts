import type { CliKind } from './cli.ts';

/** Who generates behind a CLI, in traces: as OpenTelemetry's conventions name it, the CLI where that may be anybody. */
export function traceNameOf(kind: CliKind): string {
  switch (kind) {
    case 'claude':
      return 'anthropic';
    case 'codex':
      return 'openai';
    case 'gemini':
      return 'gcp.gemini';
    case 'opencode':
    case 'command':
      return kind;
  }
}
