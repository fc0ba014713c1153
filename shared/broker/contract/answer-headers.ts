import { headers as createHeaders, type MsgHdrs } from '@nats-io/transport-node';
import { z } from 'zod';
import { parseJson } from './ticket.ts';

const natsHeaderName = 'Rtr-Answer-Headers';

/** Maximum characters of the headers as JSON. The longest set in use, `anthropic-ratelimit-unified-…`, has about 1,500. */
const maxLength = 4096;

const headersSchema = z.record(z.string(), z.string());

/**
 * Encodes the headers of an upstream's answer that the client needs. They travel in the NATS headers of the first frame. Releases without
 * answer headers ignore them.
 * @returns undefined if there are no headers, or more than `maxLength` allows
 */
export function encodeAnswerHeaders(headers: Readonly<Record<string, string>>): MsgHdrs | undefined {
  const json = JSON.stringify(headers);
  if (json === '{}' || json.length > maxLength) return undefined;
  const natsHeaders = createHeaders();
  natsHeaders.set(natsHeaderName, json);
  return natsHeaders;
}

/** Reads the answer headers from the NATS headers of a first frame; undefined if there are none or they cannot be parsed. */
export function decodeAnswerHeaders(natsHeaders: MsgHdrs | undefined): Record<string, string> | undefined {
  const json = natsHeaders?.get(natsHeaderName) ?? '';
  return json === '' || json.length > maxLength ? undefined : parseJson(Buffer.from(json), headersSchema);
}
