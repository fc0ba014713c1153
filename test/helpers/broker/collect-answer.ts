import type { GrantedJob } from '#shared/broker/contract/job-contract.ts';
import { isJsonObject, type JsonObject } from '#shared/core/json.ts';

/** The fields of a job that a test sets. */
export type JobFields = Partial<Omit<GrantedJob, 'body'>> & { body: JsonObject };

/** Returns a chat request in the form of a granted job. */
export function grantedJob(model: string, { body, ...fields }: JobFields): GrantedJob {
  return {
    id: 'job',
    requestId: 'request',
    operation: 'generate',
    format: 'chat',
    stream: body['stream'] === true,
    model,
    body: Buffer.from(JSON.stringify(body)),
    ...fields,
  };
}

/** Collects the pieces that a handler writes. */
export function collectAnswer(onPiece: (piece: string) => void = () => undefined) {
  const pieces: string[] = [];
  return {
    pieces,
    write: (piece: string | Uint8Array): void => {
      const text = typeof piece === 'string' ? piece : Buffer.from(piece).toString();
      pieces.push(text);
      onPiece(text);
    },
    text: () => pieces.join(''),
    /** Returns the data of its server-sent events without `[DONE]`; the body of an answer that is not streamed. */
    events: (): JsonObject[] => {
      const text = pieces.join('');
      const lines = text.startsWith('{')
        ? [text]
        : text.split('\n').flatMap((line) => (line.startsWith('data: {') ? [line.slice(6)] : []));
      return lines.map((line) => JSON.parse(line) as unknown).filter(isJsonObject);
    },
  };
}
