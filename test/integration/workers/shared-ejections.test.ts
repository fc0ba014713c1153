import { expect, it } from 'vitest';
import type { Step } from '../../helpers/broker/scripted-handler.ts';
import { useScriptedCluster } from '../../helpers/cluster/start-scripted-cluster.ts';
import { until } from '../../helpers/until.ts';

const cluster = useScriptedCluster();

it('a worker that one ingress ejects is ejected by the other, and serves both again', async () => {
  const other = await cluster.otherIngress();
  for (const id of ['sick', 'b', 'c']) await cluster.addScripted({ id, slots: 8 });
  const isEjected = async (adminUrl: string): Promise<boolean> =>
    (await (await fetch(`${adminUrl}/metrics`)).text()).includes(
      'worker="sick",model="demo",reason="upstream_failed"} 1',
    );
  const bothAre = async (ejected: boolean): Promise<boolean> =>
    (await isEjected(cluster.adminUrl)) === ejected && (await isEjected(other.adminUrl)) === ejected;
  let conversations = 0;
  const send = async (url: string, steps: Step[]): Promise<number> => {
    conversations += 1;
    const messages = [{ role: 'user', content: `Hello, for the ${conversations}th time.` }];
    return (await cluster.post(steps, { messages }, { url })).status;
  };
  await until(async () => {
    expect(await send(cluster.url, [{ only: 'sick', fail: 'upstream_failed' }, { write: '{}' }])).toBe(200);
    return await isEjected(cluster.adminUrl);
  });
  // The other ingress has had no request.
  await until(() => bothAre(true));
  await until(async () => {
    for (const url of [cluster.url, other.url]) expect(await send(url, [{ write: '{}' }])).toBe(200);
    return await bothAre(false);
  });
});
