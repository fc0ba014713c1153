import { headers as natsHeaders, type MsgHdrs } from '@nats-io/transport-node';
import { z } from 'zod';
import { parseJson } from './ticket.ts';

const headerName = 'Rtr-Answer-Headers';

/** Maximum characters of the JSON. The longest set in use, of `anthropic-ratelimit-unified-…`, has about 1,500. */
const maxLength = 4096;

const schema = z.record(z.string(), z.string());

/**
 * Encodes the headers of an upstream's answer that the client needs. They travel in the NATS headers of the first frame, which releases
 * that do not support them ignore.
 * @returns undefined if there are no headers, or more than `maxLength` allows
 */
export function encodeAnswerHeaders(headers: Readonly<Record<string, string>>): MsgHdrs | undefined {
  const json = JSON.stringify(headers);
  if (json === '{}' || json.length > maxLength) return undefined;
  const carried = natsHeaders();
  carried.set(headerName, json);
  return carried;
}

/** Reads the answer headers from the message of a first frame; undefined if there are none or they cannot be parsed. */
export function decodeAnswerHeaders(message: MsgHdrs | undefined): Record<string, string> | undefined {
  const json = message?.get(headerName) ?? '';
  return json === '' || json.length > maxLength ? undefined : parseJson(Buffer.from(json), schema);
}
