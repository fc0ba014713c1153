import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Limits } from '#shared/accounts/limits/limits.ts';
import { contentName } from '#shared/broker/contract/server-content.ts';
import type { Job } from '#shared/broker/dispatch/job.ts';
import type { JobSink } from '#shared/broker/dispatch/job-sink.ts';
import { RouterError } from '#shared/core/errors.ts';
import { LinkedTools } from '#shared/serving/connected/linked-tools.ts';
import type { ServingComponents } from '#shared/serving/serve-model.ts';
import { livePool } from '../../../helpers/broker/live-pool.ts';
import { callerOf, identityOf, servingParts } from '../../../helpers/serving/serving-parts.ts';
import { until } from '../../../helpers/until.ts';

const servers = ['a', 'b', 'c', 'd'].map((name) => ({ name, url: `https://${name}.test/mcp` }));

type Answer = (sink: JobSink) => void;

/** Answers a listing with one tool, which has the name of its server. */
const withTool = (server: string): Answer => {
  const result = {
    tool: server,
    is_error: false,
    content: [],
    structured_content: { tools: [{ name: server, inputSchema: { type: 'object' } }] },
  };
  return (sink) => sink.end(Buffer.from(JSON.stringify(result)));
};

/** The linked tools of a person, whose servers answer when the test lets them. */
function open(limits: Limits = {}, changes: Partial<ServingComponents> = {}) {
  const asked: { server: string; answer: (answer: Answer) => void }[] = [];
  const dispatch: ServingComponents['dispatcher']['dispatch'] = ({ connection }, _body, sink) => {
    const finished = Promise.withResolvers<never>();
    asked.push({ server: String(connection?.server), answer: (answer) => answer(sink) });
    return { finished: finished.promise } as unknown as Job;
  };
  const tools = servers.map(({ name }) => ({
    name: contentName(name),
    description: '',
    inputSchema: { type: 'object' as const },
    passes: [],
  }));
  const pool = livePool({ tier: 'tools', pool: 't', tools }, [{ id: 't1' }]);
  const grant = {
    granted: true as const,
    uses: [],
    reservation: { commit: () => undefined, release: () => undefined },
  };
  const parts = servingParts(dispatch, [pool], { limits: { reserve: () => Promise.resolve(grant) }, ...changes });
  Object.assign(parts.workers, { isKnownTool: () => false });
  const links = {
    servers: () => servers,
    readVersions: () => Promise.resolve(new Map(servers.map(({ name }) => [name, '1']))),
    findToken: () => Promise.resolve('token'),
    toRequiredError: () => new RouterError('connection_required', 'There is no link.'),
  };
  const parties = Object.keys(limits).length === 0 ? [] : [{ party: 'key:k' as const, limits }];
  const caller = callerOf(identityOf({ kind: 'user', ownerId: 'ada', limits: parties }));
  const linked = new LinkedTools(links, parts);
  const list = async (): Promise<string[]> => (await linked.list(caller)).map(({ server = '' }) => server);
  const askedServers = (): string[] => asked.map(({ server }) => server);
  return { asked, askedServers, list };
}

describe('the list of the tools of linked servers', () => {
  it.each([
    [{}, 4],
    [{ concurrentRequests: 100 }, 4],
    [{ concurrentRequests: 4 }, 2],
    [{ concurrentRequests: 1 }, 1],
  ])('with the limits %j asks %d servers at once', async (limits, count) => {
    const { asked, askedServers, list } = open(limits);
    const listed = list();
    await until(() => asked.length === count);
    for (let at = 0; at < servers.length; at += 1) {
      await until(() => asked.length > at);
      expect(asked.length).toBeLessThanOrEqual(at + count);
      asked[at]?.answer(withTool(askedServers()[at] ?? ''));
    }
    expect(await listed).toEqual(['a', 'b', 'c', 'd']);
  });

  it('waits ten seconds for all servers together, and leaves out the others', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const { asked, list } = open({ concurrentRequests: 2 });
    const first = list();
    await until(() => asked.length === 1);
    asked[0]?.answer(withTool('a'));
    await until(() => asked.length === 2);
    vi.advanceTimersByTime(10_000);
    expect(await first).toEqual(['a']);
    // The server that was too slow is left out for a while. Those that were not asked are asked now.
    const second = list();
    await until(() => asked.length === 3);
    expect(asked[2]?.server).toBe('c');
    asked[2]?.answer(withTool('c'));
    await until(() => asked.length === 4);
    asked[3]?.answer(withTool('d'));
    expect(await second).toEqual(['a', 'c', 'd']);
    // Its list counts as soon as it comes.
    asked[1]?.answer(withTool('b'));
    expect(await list()).toEqual(['a', 'b', 'c', 'd']);
  });

  it('fails, and asks no further server, if a limit of the key refuses to ask one', async () => {
    const error = new RouterError('rate_limit_exceeded', 'This key may send 1 request a minute.');
    let reservations = 0;
    const reserve = () => {
      reservations += 1;
      return Promise.resolve({ granted: false as const, error, uses: [] });
    };
    const { asked, list } = open({ concurrentRequests: 1, requestsPerMinute: 1 }, { limits: { reserve } });
    await expect(list()).rejects.toBe(error);
    expect([asked.length, reservations]).toEqual([0, 1]);
  });

  it('asks one server after the other, if the places that are free do not suffice for several', async () => {
    const error = new RouterError('rate_limit_exceeded', 'This key may have 10 requests at once.');
    const uses: [] = [];
    let free = 1;
    const reservation = { commit: () => undefined, release: () => undefined };
    const reserve = () => {
      if (free === 0) return Promise.resolve({ granted: false as const, error, uses });
      free -= 1;
      return Promise.resolve({ granted: true as const, uses, reservation });
    };
    const { asked, askedServers, list } = open({ concurrentRequests: 10 }, { limits: { reserve } });
    const listed = list();
    for (let at = 0; at < servers.length; at += 1) {
      await until(() => asked.length === at + 1);
      free += 1;
      asked[at]?.answer(withTool(askedServers()[at] ?? ''));
    }
    expect(await listed).toEqual(['a', 'b', 'c', 'd']);
    free = 0;
    const other = open({ concurrentRequests: 10 }, { limits: { reserve } });
    await expect(other.list()).rejects.toBe(error);
  });

  it('leaves out a server that refuses to answer because of a limit of its own', async () => {
    const { asked, list } = open();
    const listed = list();
    await until(() => asked.length === 4);
    asked[0]?.answer((sink) => sink.fail(new RouterError('rate_limit_exceeded', 'Slow down.')));
    for (const { server, answer } of asked.slice(1)) answer(withTool(server));
    expect(await listed).toEqual(['b', 'c', 'd']);
  });
});
