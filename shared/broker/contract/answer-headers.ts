import { headers as natsHeaders, type MsgHdrs } from '@nats-io/transport-node';
import { z } from 'zod';
import { parseJson } from './ticket.ts';

/** Name of the header of NATS that carries the headers of an answer, as JSON. */
const headerName = 'Rtr-Answer-Headers';

/** Most characters of the JSON. The longest set in use, of `anthropic-ratelimit-unified-…`, has about 1,500. */
const maxLength = 4096;

const schema = z.record(z.string(), z.string());

/**
 * Headers of an upstream's answer that concern its client. They travel beside the payload of the first frame, where releases
 * that do not know them pass them over.
 * @returns undefined for none, and for more than an answer may have
 */
export function encodeAnswerHeaders(given: Readonly<Record<string, string>>): MsgHdrs | undefined {
  const json = JSON.stringify(given);
  if (json === '{}' || json.length > maxLength) return undefined;
  const carried = natsHeaders();
  carried.set(headerName, json);
  return carried;
}

/** Reads the headers of the message of a first frame; undefined for a message without them, and for what cannot be read. */
export function decodeAnswerHeaders(message: MsgHdrs | undefined): Record<string, string> | undefined {
  const json = message?.get(headerName) ?? '';
  return json === '' || json.length > maxLength ? undefined : parseJson(Buffer.from(json), schema);
}
