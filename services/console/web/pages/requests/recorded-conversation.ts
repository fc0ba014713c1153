export interface RecordedPart {
  /** The role in the words of the format: `system`, `user`, `assistant`, `tool`. */
  role: string;
  text: string;
}

type Json = Readonly<Record<string, unknown>>;

/** A page shows at most this many parts one by one. */
const maxParts = 2_000;

/** JSON is read if it has at most this many levels. No client sends more, and thousands overflow the stack. */
const maxLevels = 64;

/** JSON of at most this many characters is shown indented. */
const maxIndented = 10_000;

/**
 * Returns the parts of the conversation in a recorded request of any format, in their order. Content other than text, such as a tool call,
 * is shown as JSON. Returns undefined for a body in no known format, a cut body, or one with thousands of parts.
 */
export function requestParts(body: string): RecordedPart[] | undefined {
  const request = objectOf(parsed(body));
  if (!request) return undefined;
  const system = request['system'] ?? request['instructions'];
  const { messages, input, prompt } = request;
  const conversation = messages ?? input ?? prompt;
  const parts =
    typeof conversation === 'string'
      ? [{ role: 'user', text: conversation }]
      : Array.isArray(conversation)
        ? conversation.map(partOf)
        : [];
  const first = system === undefined || system === null ? [] : [{ role: 'system', text: textOf(system) }];
  return parts.length === 0 || parts.length > maxParts ? undefined : [...first, ...parts];
}

/** Returns the parts of a recorded answer, whole or streamed; undefined as in `requestParts`. */
export function answerParts(answer: string): RecordedPart[] | undefined {
  const whole = objectOf(parsed(answer));
  const parts = whole ? wholeParts(whole) : streamedParts(eventsOf(answer));
  return parts.length === 0 || parts.length > maxParts ? undefined : parts;
}

function wholeParts({ choices, content, output, error }: Json): RecordedPart[] {
  if (error !== undefined && error !== null)
    return [{ role: 'error', text: textOf(objectOf(error)?.['message'] ?? error) }];
  if (Array.isArray(choices)) return choices.map((choice) => partOf(objectOf(choice)?.['message'] ?? choice));
  if (Array.isArray(output)) return output.map(partOf);
  return content === undefined ? [] : [{ role: 'assistant', text: textOf(content) }];
}

function streamedParts(events: readonly Json[]): RecordedPart[] {
  let text = '';
  const calls = new Map<string, string>();
  const call = (index: unknown, piece: unknown): void => {
    const name = textOf(index ?? '');
    calls.set(name, (calls.get(name) ?? '') + textOf(piece));
  };
  for (const event of events) {
    const response = objectOf(event['response']);
    if (Array.isArray(response?.['output']) && response['output'].length > 0) return wholeParts(response);
    const delta = objectOf(event['delta']);
    const [choice] = Array.isArray(event['choices']) ? event['choices'] : [];
    const chat = objectOf(objectOf(choice)?.['delta']);
    for (const piece of [chat?.['content'], delta?.['text'], objectOf(choice)?.['text']])
      if (typeof piece === 'string') text += piece;
    if (event['type'] === 'response.output_text.delta' && typeof event['delta'] === 'string') text += event['delta'];
    if (typeof delta?.['partial_json'] === 'string') call(event['index'], delta['partial_json']);
    const block = objectOf(event['content_block']);
    if (block?.['type'] === 'tool_use') call(event['index'], `${textOf(block['name'] ?? '')} `);
    for (const each of Array.isArray(chat?.['tool_calls']) ? chat['tool_calls'] : []) {
      const { index, function: called } = objectOf(each) ?? {};
      const { name = '', arguments: input = '' } = objectOf(called) ?? {};
      call(index, `${textOf(name)}${name === '' ? '' : ' '}${textOf(input)}`);
    }
    if (event['error']) return [...spoken(text), ...wholeParts(event)];
  }
  return [...spoken(text), ...[...calls.values()].map((each) => ({ role: 'tool call', text: each }))];
}

function spoken(text: string): RecordedPart[] {
  return text === '' ? [] : [{ role: 'assistant', text }];
}

/** Returns the data of those events that are JSON. */
function eventsOf(answer: string): Json[] {
  const data = answer.split('\n').filter((line) => line.startsWith('data:'));
  return data.map((line) => objectOf(parsed(line.slice('data:'.length)))).filter((event) => event !== undefined);
}

function partOf(value: unknown): RecordedPart {
  const item = objectOf(value);
  if (!item) return { role: 'user', text: textOf(value) };
  const { role, type, content, text, tool_calls: calls } = item;
  const name = [role, type].find((each) => typeof each === 'string') ?? 'user';
  const body = content ?? text;
  if (body === undefined || body === null) return { role: name, text: textOf(calls ?? item) };
  return { role: name, text: [textOf(body), ...(calls === undefined ? [] : [textOf(calls)])].join('\n') };
}

/** Returns text as it is, blocks of text joined, and everything else as JSON. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (!Array.isArray(value)) return jsonOf(value);
  return value
    .map((block: unknown) => {
      const text = typeof block === 'string' ? block : objectOf(block)?.['text'];
      return typeof text === 'string' ? text : jsonOf(block);
    })
    .join('\n');
}

function jsonOf(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > maxIndented ? text : JSON.stringify(value, undefined, 2);
}

function objectOf(value: unknown): Json | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : undefined;
}

function parsed(text: string): unknown {
  if (levelsOf(text) > maxLevels) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // The text was cut, or is not JSON.
    return undefined;
  }
}

/** Returns how deep objects and arrays of a JSON text are nested. */
function levelsOf(text: string): number {
  let [level, most, isInString] = [0, 0, false];
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (isInString && character === '\\') at += 1;
    else if (character === '"') isInString = !isInString;
    else if (isInString) continue;
    else if (character === '[' || character === '{') most = Math.max(most, (level += 1));
    else if (character === ']' || character === '}') level -= 1;
  }
  return most;
}
