import type { Socket } from 'node:net';
import { chatBytes, messagesBytes, stampedText, type AnswerBytes } from './answer-bytes.ts';
import { RequestReader, type ReadRequest } from './request-reader.ts';
import { modelsOf, scenarioOf, type BenchFormat, type Scenario } from './scenarios.ts';
import { clockUs, noTime } from './stamp.ts';

export const streamHead =
  'HTTP/1.1 200 OK\r\nserver: uvicorn\r\ncontent-type: text/event-stream; charset=utf-8\r\ntransfer-encoding: chunked\r\n\r\n';
export const lastChunk = '0\r\n\r\n';
const modelField = Buffer.from('"model"');

/** Texts of a flood, in turn: some systems end a stream that repeats itself. */
const words = [' a', ' bow', ' of', ' carbon', ' fibre', ',', ' which', ' you', ' can', ' try', ' here', '.'];

/** Bytes that are the same for every answer of a model. */
const madeTexts = new Map<string, string>();

/** One connection to the upstream: answers each request with the scenario of its model. */
export class ScenarioConnection {
  readonly #socket: Socket;
  #timer: NodeJS.Timeout | undefined;

  constructor(socket: Socket) {
    this.#socket = socket;
    const reader = new RequestReader((request) => this.#answer(request));
    socket.on('data', (bytes: Buffer) => reader.push(bytes));
    socket.on('close', () => clearTimeout(this.#timer));
    // A client that leaves in the middle of an answer resets the connection; `close` follows.
    socket.on('error', () => socket.destroy());
  }

  #answer({ line, body }: ReadRequest): void {
    switch (line.replace(/\?.*/, '')) {
      case 'POST /v1/chat/completions':
        return this.#complete(body, chatBytes);
      case 'POST /v1/messages':
        return this.#complete(body, messagesBytes);
      case 'GET /v1/models':
        return this.#json(JSON.stringify({ object: 'list', data: [...modelList('chat'), ...modelList('messages')] }));
      case 'GET /health':
        return this.#json('{}');
      case 'POST /tokenize':
        return this.#json('{"count":1}');
      default:
        this.#socket.write('HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n');
    }
  }

  #json(text: string): void {
    this.#socket.write(jsonAnswer(text));
  }

  #complete(body: Buffer, bytes: AnswerBytes): void {
    const arrived = clockUs();
    const model = readModel(body);
    const scenario = scenarioOf(model);
    if (!scenario) return void this.#socket.write('HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n');
    if (scenario.texts === 0) return this.#json(once(`whole ${bytes.format} ${model}`, () => bytes.whole(model)));
    this.#timer = setTimeout(() => this.#begin(model, bytes, scenario, arrived), scenario.firstMs - scenario.apartMs);
  }

  #begin(model: string, bytes: AnswerBytes, scenario: Scenario, arrived: number): void {
    const head = streamHead + chunk(bytes.begin(model));
    const begun = clockUs();
    const first = (): string => chunk(bytes.text(model, stampedText(arrived, begun, clockUs())));
    if (scenario.apartMs === 0) {
      this.#socket.write(head + first());
      this.#goOn(model, bytes, scenario);
      return;
    }
    this.#socket.write(head);
    this.#timer = setTimeout(() => {
      this.#socket.write(first());
      this.#goOn(model, bytes, scenario);
    }, scenario.apartMs);
  }

  #goOn(model: string, bytes: AnswerBytes, { texts, everyMs }: Scenario): void {
    const end = chunk(bytes.end(model, texts)) + lastChunk;
    if (everyMs === 0) {
      const make = (word: string) => () => chunk(bytes.text(model, noTime + word));
      const made = words.map((word) => once(`text ${bytes.format} ${model}${word}`, make(word)));
      for (let written = 1; written < texts; written += 1)
        this.#socket.write(made[written % made.length] ?? '', 'latin1');
      this.#socket.write(end);
      return;
    }
    let written = 1;
    const beganAt = performance.now();
    const next = (): void => {
      if (written === texts) return void this.#socket.write(end);
      this.#socket.write(chunk(bytes.text(model, stampedText(clockUs()))));
      written += 1;
      // Counted from the beginning: otherwise streams whose texts are late together would run in step ever after.
      this.#timer = setTimeout(next, Math.max(0, beganAt + written * everyMs - performance.now()));
    };
    this.#timer = setTimeout(next, everyMs);
  }
}

/** Returns the first model in a body: no system of the bench writes another `"model"` before it. */
function readModel(body: Buffer): string {
  const at = body.indexOf(modelField);
  const [, model = ''] = at < 0 ? [] : (/^"model"\s*:\s*"([^"]+)"/.exec(body.toString('latin1', at, at + 200)) ?? []);
  return model;
}

function modelList(format: BenchFormat): object[] {
  return modelsOf(format).map((id) => ({ id, object: 'model', owned_by: 'bench', max_model_len: 4_000_000 }));
}

function once(name: string, make: () => string): string {
  const text = madeTexts.get(name) ?? make();
  madeTexts.set(name, text);
  return text;
}

export function jsonAnswer(text: string): string {
  const head = `HTTP/1.1 200 OK\r\nserver: uvicorn\r\ncontent-type: application/json`;
  return `${head}\r\ncontent-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`;
}

export function chunk(text: string): string {
  return `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
}
