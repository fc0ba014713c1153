import { describe } from 'vitest';
import { decodeTicket } from '#shared/broker/contract/ticket.ts';
import { it } from '../../../../helpers/broker/it-with-parties.ts';
import { openTicketStream, type TestIngress, type TestRequest } from '../../../../helpers/broker/broker-parties.ts';
import { least } from '../../../../helpers/least.ts';
import { until } from '../../../../helpers/until.ts';

/** Drops what an ingress publishes into lanes, if the job's id is wanted. */
function loseTickets({ broker, loseSent }: TestIngress, isLost: (job: string) => boolean): void {
  loseSent(({ subject, payload }) => {
    const isTicket = subject.startsWith(`${broker.subjects.prefix}.jobs.`);
    const ticket = isTicket ? decodeTicket(Buffer.from(payload)) : undefined;
    return ticket !== undefined && isLost(ticket.job);
  });
}

/** The number of tickets in the queue. */
const countTickets = async (ingress: TestIngress) => (await (await openTicketStream(ingress)).state()).messages;

/** Blocks all answers of JetStream, like a cluster of servers without a leader. */
function loseLeader(ingress: TestIngress): void {
  ingress.refuseRequests();
  loseTickets(ingress, () => true);
}

describe.concurrent('while JetStream has no leader', () => {
  it('a worker whose lanes cannot be read takes offers', async ({ ingress, addWorker, expect }) => {
    loseLeader(ingress);
    await addWorker();
    // It has waited long enough for an answer about its lanes.
    await until(async () => {
      const { job, finished } = ingress.send({ steps: [{ write: 'x' }] });
      await finished;
      expect(job.tickets.count).toBe(0);
    });
  });

  it('tools, large bodies and refused jobs get tickets straight from the ingress', async ({ start, expect }) => {
    const wait = async (): Promise<number> => {
      const { ingress, addWorker } = await start();
      loseLeader(ingress);
      await addWorker({ slots: 4 });
      const text = 'x'.repeat(600_000);
      const body = Buffer.from(JSON.stringify({ steps: [{ write: 'large' }], text }));
      const jobs = [
        ingress.send({ operation: 'execute_tool', stream: false, steps: [{ write: 'tool' }] }),
        ingress.send({ body }),
        ...Array.from({ length: 8 }, () => ingress.send({ steps: [{ write: 'x' }, { waitMs: 100 }] })),
      ];
      const reports = await Promise.all(jobs.map(({ finished }) => finished));
      for (const report of reports) expect(report).toMatchObject({ state: 'done', attempts: 1 });
      expect(reports.slice(0, 2).map(({ text: answer }) => answer)).toEqual(['tool', 'large']);
      return Math.max(...reports.map(({ queuedAt, claimedAt = Infinity }) => claimedAt - queuedAt));
    };
    expect(await least(wait, 3_500, 3)).toBeLessThan(3_500);
  });
});

describe.concurrent('a lost ticket', () => {
  it('keeps its job waiting for three seconds at most, beside others', async ({ start, expect, onTestFinished }) => {
    const wait = async (): Promise<number> => {
      const { ingress, addWorker } = await start();
      await addWorker({ slots: 8 });
      let lost: string | undefined;
      loseTickets(ingress, (job) => (lost ??= job) === job);
      const tool: TestRequest = { operation: 'execute_tool', stream: false, steps: [{ write: 'x' }] };
      const waiting = ingress.send(tool);
      const others = setInterval(() => ingress.send(tool), 100);
      onTestFinished(() => clearInterval(others));
      const { state, queuedAt, claimedAt = Infinity } = await waiting.finished;
      expect([state, lost]).toEqual(['done', waiting.job.id]);
      clearInterval(others);
      return claimedAt - queuedAt;
    };
    expect(await least(wait, 3_000, 3)).toBeLessThan(3_000);
  });

  it('after the broker had stored it is published again', async ({ ingress, addWorker, expect }) => {
    await addWorker({ slots: 0 });
    const jobs = Array.from({ length: 2 }, () => ingress.send({ steps: [{ write: 'x' }] }));
    await until(() => jobs.every(({ job }) => job.tickets.isAdmitted));
    // A slow machine may have published them again already.
    await until(async () => expect(await countTickets(ingress)).toBeGreaterThanOrEqual(2));
    await (await openTicketStream(ingress)).purge();
    expect(await countTickets(ingress)).toBe(0);
    await until(async () => expect(await countTickets(ingress)).toBeGreaterThanOrEqual(2));
    for (const { cancel } of jobs) cancel();
  });
});

it.concurrent('the ticket of an ingress that is gone is removed by the first claim', async ({ start, expect }) => {
  const { ingress, addIngress, addWorker } = await start();
  const gone = await addIngress();
  const { id } = await addWorker({ slots: 0 });
  await until(() => gone.workers.get(id) !== undefined);
  const { job } = gone.send({ steps: [{ write: 'x' }] });
  await until(() => job.tickets.isAdmitted);
  // A ticket whose storing was not confirmed in time has been published again.
  await until(async () => expect(await countTickets(ingress)).toBeGreaterThan(0));
  await gone.broker.nc.close();
  await addWorker();
  await until(async () => expect(await countTickets(ingress)).toBe(0));
});
