import type { JsonObject } from '#shared/core/json.ts';

/** A tool that is offered to the model. */
export interface OfferedTool {
  name: string;
  description: string;
  inputSchema: JsonObject;
}

/** A model's request to run a tool. */
export interface ToolCall {
  id: string;
  name: string;
  /** JSON, as far as it has arrived. */
  input: string;
  /** The tool's output, once it has run. */
  result?: { text: string; isError: boolean };
}

/** Who answered, how fast, and how many tokens it took. */
export interface Served {
  model?: string;
  tier?: string;
  worker?: string;
  requestId?: string;
  attempts?: string;
  queueMs?: string;
  firstTokenMs?: number;
  totalMs?: number;
  promptTokens?: number;
  completionTokens?: number;
  /** US dollars, as the ledger has them. Present once the ledger shows the request to this person. */
  cost?: number;
}

export interface UserTurn {
  role: 'user';
  text: string;
  /** Data URLs. */
  images: string[];
}

export interface AssistantTurn {
  role: 'assistant';
  text: string;
  thinking: string;
  /** Proves to the provider that the thinking was not changed. Of use only in the format that it came in. */
  signature: string;
  /** The name of the format in which it was asked for. */
  format: string;
  toolCalls: ToolCall[];
  /** Whether the answer ended at its longest allowed length. */
  isCut?: boolean;
  served: Served;
  /** `stopped`: by the person. */
  state: 'waiting' | 'streaming' | 'done' | 'stopped' | 'failed';
  error?: string;
}

export type Turn = UserTurn | AssistantTurn;

/** What a request holds besides the conversation. */
export interface Settings {
  model: string;
  system: string;
  /** Empty: the model's own default. */
  maxTokens: number | '';
  temperature: number | '';
  thinking: boolean;
  tools: OfferedTool[];
}

/** An answer that is asked for in a format. */
export function newAnswer(format: string): AssistantTurn {
  return {
    role: 'assistant',
    format,
    text: '',
    thinking: '',
    signature: '',
    toolCalls: [],
    served: {},
    state: 'waiting',
  };
}

/** A piece of an answer, in whatever format it came. */
export type Piece =
  | { kind: 'text'; text: string }
  | { kind: 'thinking'; text: string }
  | { kind: 'signature'; text: string }
  /** A part of the tool call at this index: its name and id at first, then its input in pieces. */
  | { kind: 'tool'; index: number; id?: string | undefined; name?: string | undefined; input?: string | undefined }
  | { kind: 'end'; isCut: boolean }
  | { kind: 'served'; served: Partial<Served> }
  | { kind: 'error'; message: string };

/** The answer with one more piece. */
export function withPiece(turn: AssistantTurn, piece: Piece): AssistantTurn {
  switch (piece.kind) {
    case 'text':
      return { ...turn, state: 'streaming', text: turn.text + piece.text };
    case 'thinking':
      return { ...turn, state: 'streaming', thinking: turn.thinking + piece.text };
    case 'signature':
      return { ...turn, signature: turn.signature + piece.text };
    case 'tool':
      return { ...turn, state: 'streaming', toolCalls: withCall(turn.toolCalls, piece) };
    case 'end':
      return { ...turn, isCut: piece.isCut };
    case 'served':
      return { ...turn, served: { ...turn.served, ...piece.served } };
    case 'error':
      return { ...turn, state: 'failed', error: piece.message };
  }
}

function withCall(calls: readonly ToolCall[], piece: Extract<Piece, { kind: 'tool' }>): ToolCall[] {
  const { index, id, name, input = '' } = piece;
  const next = [...calls];
  while (next.length <= index) next.push({ id: '', name: '', input: '' });
  const call = next[index];
  if (call) next[index] = { ...call, id: id ?? call.id, name: name ?? call.name, input: call.input + input };
  return next;
}

/** The tool calls that need a result before the conversation can continue. Those of an answer that was stopped or failed are left out. */
export function openCalls(turns: readonly Turn[]): ToolCall[] {
  const last = turns.at(-1);
  if (last?.role !== 'assistant' || last.state === 'stopped' || last.state === 'failed') return [];
  return last.toolCalls.filter(({ result }) => result === undefined);
}

/** What comes within these milliseconds came as one piece, which says nothing of a model's speed. */
const leastMs = 50;

/** Tokens a second of an answer since its first one; undefined where that is not known. */
export function tokensPerSecond({ completionTokens, firstTokenMs, totalMs }: Served): number | undefined {
  if (completionTokens === undefined || firstTokenMs === undefined || totalMs === undefined) return undefined;
  // The first token has come by then.
  const [tokens, ms] = [completionTokens - 1, totalMs - firstTokenMs];
  return tokens > 0 && ms >= leastMs ? (tokens / ms) * 1_000 : undefined;
}
