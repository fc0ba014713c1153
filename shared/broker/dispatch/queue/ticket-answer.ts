import type { Msg } from '@nats-io/transport-node';
import { z } from 'zod';
import { noResponders } from '../../connection/connect-broker.ts';
import { parseJson } from '../../contract/ticket.ts';

/** What the broker says to a published ticket. */
export type TicketAnswer = 'stored' | 'full' | 'no-stream' | 'unknown';

const answerSchema = z.object({
  stream: z.string().optional(),
  seq: z.number().optional(),
  error: z.object({ err_code: z.number().optional(), description: z.string().optional() }).optional(),
});

/** JetStream's `maximum messages exceeded`, reported under this code when a stream refuses new messages. */
const storeFailed = 10077;

/** Reads JetStream's answer to a published message; "no responders" means that no stream listens to the subject. */
export function readTicketAnswer({ data, headers }: Msg): TicketAnswer {
  if (headers?.code === noResponders) return 'no-stream';
  const answer = parseJson(data, answerSchema);
  if (answer?.error?.err_code === storeFailed) return 'full';
  return answer?.stream !== undefined && answer.seq !== undefined ? 'stored' : 'unknown';
}
