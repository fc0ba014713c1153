export interface RecordedPart {
  /** The role as the format names it, such as `system`, `user`, `assistant` or `tool`. */
  role: string;
  text: string;
}

type JsonObject = Readonly<Record<string, unknown>>;

/** Maximum number of parts that are shown separately. */
const maxParts = 2_000;

/** Maximum nesting depth of JSON to parse. No client sends deeper JSON, and thousands of levels would overflow the stack. */
const maxLevels = 64;

/** Maximum number of characters of JSON to show indented. */
const maxIndentedCharacters = 10_000;

/**
 * Returns the parts of the conversation in a recorded request of any format, in their order. Content other than text, such as a tool call,
 * is shown as JSON. Returns undefined for a body of an unknown format, a cut body, or a body with more than 2,000 parts.
 */
export function readRequestParts(body: string): RecordedPart[] | undefined {
  const request = readObject(parseJson(body));
  if (!request) return undefined;
  const system = request['system'] ?? request['instructions'];
  const { messages, input, prompt } = request;
  const conversation = messages ?? input ?? prompt;
  const parts =
    typeof conversation === 'string'
      ? [{ role: 'user', text: conversation }]
      : Array.isArray(conversation)
        ? conversation.map(toPart)
        : [];
  const systemParts = system === undefined || system === null ? [] : [{ role: 'system', text: toText(system) }];
  return parts.length === 0 || parts.length > maxParts ? undefined : [...systemParts, ...parts];
}

/** Returns the parts of a recorded answer, streamed or not. Returns undefined in the same cases as `readRequestParts`. */
export function readAnswerParts(answer: string): RecordedPart[] | undefined {
  const object = readObject(parseJson(answer));
  const parts = object ? readWholeParts(object) : readStreamedParts(readEvents(answer));
  return parts.length === 0 || parts.length > maxParts ? undefined : parts;
}

function readWholeParts({ choices, content, output, error }: JsonObject): RecordedPart[] {
  if (error !== undefined && error !== null)
    return [{ role: 'error', text: toText(readObject(error)?.['message'] ?? error) }];
  if (Array.isArray(choices)) return choices.map((choice) => toPart(readObject(choice)?.['message'] ?? choice));
  if (Array.isArray(output)) return output.map(toPart);
  return content === undefined ? [] : [{ role: 'assistant', text: toText(content) }];
}

function readStreamedParts(events: readonly JsonObject[]): RecordedPart[] {
  let text = '';
  const calls = new Map<string, string>();
  const addToCall = (index: unknown, piece: unknown): void => {
    const name = toText(index ?? '');
    calls.set(name, (calls.get(name) ?? '') + toText(piece));
  };
  for (const event of events) {
    const response = readObject(event['response']);
    if (Array.isArray(response?.['output']) && response['output'].length > 0) return readWholeParts(response);
    const delta = readObject(event['delta']);
    const [choice] = Array.isArray(event['choices']) ? event['choices'] : [];
    const chatDelta = readObject(readObject(choice)?.['delta']);
    for (const piece of [chatDelta?.['content'], delta?.['text'], readObject(choice)?.['text']])
      if (typeof piece === 'string') text += piece;
    if (event['type'] === 'response.output_text.delta' && typeof event['delta'] === 'string') text += event['delta'];
    if (typeof delta?.['partial_json'] === 'string') addToCall(event['index'], delta['partial_json']);
    const block = readObject(event['content_block']);
    if (block?.['type'] === 'tool_use') addToCall(event['index'], `${toText(block['name'] ?? '')} `);
    for (const toolCall of Array.isArray(chatDelta?.['tool_calls']) ? chatDelta['tool_calls'] : []) {
      const { index, function: calledFunction } = readObject(toolCall) ?? {};
      const { name = '', arguments: input = '' } = readObject(calledFunction) ?? {};
      addToCall(index, `${toText(name)}${name === '' ? '' : ' '}${toText(input)}`);
    }
    if (event['error']) return [...toAssistantParts(text), ...readWholeParts(event)];
  }
  return [...toAssistantParts(text), ...[...calls.values()].map((call) => ({ role: 'tool call', text: call }))];
}

function toAssistantParts(text: string): RecordedPart[] {
  return text === '' ? [] : [{ role: 'assistant', text }];
}

/** Returns the data of all events with JSON data. */
function readEvents(answer: string): JsonObject[] {
  const data = answer.split('\n').filter((line) => line.startsWith('data:'));
  return data.map((line) => readObject(parseJson(line.slice('data:'.length)))).filter((event) => event !== undefined);
}

function toPart(value: unknown): RecordedPart {
  const item = readObject(value);
  if (!item) return { role: 'user', text: toText(value) };
  const { role, type, content, text, tool_calls: calls } = item;
  const name = [role, type].find((value) => typeof value === 'string') ?? 'user';
  const body = content ?? text;
  if (body === undefined || body === null) return { role: name, text: toText(calls ?? item) };
  return { role: name, text: [toText(body), ...(calls === undefined ? [] : [toText(calls)])].join('\n') };
}

/** Returns text unchanged, joins blocks of text, and converts everything else to JSON. */
function toText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (!Array.isArray(value)) return toJson(value);
  return value
    .map((block: unknown) => {
      const text = typeof block === 'string' ? block : readObject(block)?.['text'];
      return typeof text === 'string' ? text : toJson(block);
    })
    .join('\n');
}

function toJson(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > maxIndentedCharacters ? text : JSON.stringify(value, undefined, 2);
}

function readObject(value: unknown): JsonObject | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;
}

function parseJson(text: string): unknown {
  if (countLevels(text) > maxLevels) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // The text was cut, or is not JSON.
    return undefined;
  }
}

/** Returns the nesting depth of objects and arrays in a JSON text. */
function countLevels(text: string): number {
  let [level, deepest, isInString] = [0, 0, false];
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index];
    if (isInString && character === '\\') index += 1;
    else if (character === '"') isInString = !isInString;
    else if (isInString) continue;
    else if (character === '[' || character === '{') deepest = Math.max(deepest, (level += 1));
    else if (character === ']' || character === '}') level -= 1;
  }
  return deepest;
}
