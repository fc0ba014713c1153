import { createServer, type ServerResponse } from 'node:http';
import { randomUUID } from 'node:crypto';
import { connect, createInbox } from '@nats-io/transport-node';
import { bareJobs, bareClaim } from './bare-subjects.ts';

/*
 * The ingress of the bare prototype: only the way of a request through the broker (ticket, claim, body, frames). No keys, checks, limits,
 * logs or handling of failures. Its cost is the cost of the design itself on this machine; see `bare-worker.ts` for the other side.
 */

interface BareJob {
  body: Buffer;
  response: ServerResponse;
}

const jobs = new Map<string, BareJob>();
const nc = await connect({ servers: process.env['NATS_URL'] ?? '' });
const inbox = createInbox();

nc.subscribe(bareClaim, {
  callback: (_, { data, reply }) => {
    const { job: id } = JSON.parse(Buffer.from(data).toString()) as { job: string };
    const job = jobs.get(id);
    if (!job || reply === undefined) return;
    const grant = `${JSON.stringify({ job: id, reply: `${inbox}.${id}` })}\n`;
    nc.publish(reply, Buffer.concat([Buffer.from(grant), job.body]));
  },
});

nc.subscribe(`${inbox}.>`, {
  callback: (_, { subject, data }) => {
    const [id = '', kind] = subject.slice(inbox.length + 1).split('.');
    const job = jobs.get(id);
    if (!job || kind === 't') return;
    const { response } = job;
    if (kind === 'd') {
      if (!response.headersSent) response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(data);
      return;
    }
    if (!response.headersSent) {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': data.length });
    }
    response.end(data);
    jobs.delete(id);
  },
});

const server = createServer((request, response) => {
  const parts: Buffer[] = [];
  request.on('data', (part: Buffer) => parts.push(part));
  request.on('end', () => {
    const id = randomUUID();
    jobs.set(id, { body: Buffer.concat(parts), response });
    nc.publish(bareJobs, JSON.stringify({ job: id }), { reply: `${inbox}.${id}.t` });
  });
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (address && typeof address === 'object') process.send?.({ port: address.port });
});
process.on('disconnect', () => process.exit());
