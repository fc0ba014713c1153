import { describe, expect, it } from 'vitest';
import { consumerName, createSubjects, grantOf, parseFrameAddress } from '#shared/broker/contract/subjects.ts';
import { addressAtEnd, workerIdOf } from '#shared/broker/contract/worker-address.ts';

const subjects = createSubjects('rtr');

describe('subjects', () => {
  it('name a lane by tier, pool and class, in a stream of its tier', () => {
    const lane = { tier: 'gpu', pool: 'vllm-1', class: 'high' } as const;
    expect(subjects.jobs(lane)).toBe('rtr.jobs.gpu.vllm-1.high');
    expect(subjects.stream('gpu')).toBe('rtr_JOBS_gpu');
    expect(consumerName(lane)).toBe('vllm-1_high');
  });

  it('lead a frame back to its grant, kind and number', () => {
    const subject = `${subjects.reply('in', 'secret')}.d.17`;
    const rest = subject.slice(subjects.reply('in', '').length);
    expect(parseFrameAddress(rest)).toEqual({ grant: 'secret', kind: 'd', seq: 17 });
  });

  it.each(['', 'grant', 'grant.z.0', 'grant.toString.0'])('do not take %j for a frame', (rest) => {
    expect(parseFrameAddress(rest)).toBeUndefined();
  });

  it('name the grant of a reply, whatever the prefix', () => {
    expect(grantOf(subjects.reply('in', 'secret'))).toBe('secret');
    expect(grantOf('rtr.inbox.gpu.open.w.1.alive.secret')).toBe('secret');
  });

  it('name their worker: tier, owner and worker', () => {
    const address = { tier: 'cloud', owner: 'joes-box', worker: 'cloud-1' } as const;
    for (const subject of [subjects.heartbeat(address), subjects.claim('in', address), subjects.lanes(address)])
      expect(addressAtEnd(subject)).toEqual(address);
    expect(addressAtEnd('rtr.heartbeat.quantum.open.w')).toBeUndefined();
    expect(workerIdOf(address)).toBe('joes-box.cloud-1');
    expect(workerIdOf({ ...address, owner: 'open' })).toBe('cloud-1');
  });
});
