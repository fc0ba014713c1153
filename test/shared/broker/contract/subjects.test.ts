import { describe, expect, it } from 'vitest';
import {
  consumerName,
  createSubjects,
  grantOf,
  numberedBeside,
  parseFrameAddress,
} from '#shared/broker/contract/subjects.ts';
import { addressAtEnd, workerIdOf } from '#shared/broker/contract/worker-address.ts';

const subjects = createSubjects('rtr');

describe('subjects', () => {
  it('name a lane by tier, pool and class, in a stream of its tier', () => {
    const lane = { tier: 'gpu', pool: 'vllm-1', class: 'high' } as const;
    expect(subjects.jobs(lane)).toBe('rtr.jobs.gpu.vllm-1.high');
    expect(subjects.stream('gpu')).toBe('rtr_JOBS_gpu');
    expect(consumerName(lane)).toBe('vllm-1_high');
  });

  it('lead a frame back to its grant, kind and number, in the subject or beside it', () => {
    const reply = subjects.reply('in', 'secret');
    const parse = (subject: string, replyTo?: string): unknown =>
      parseFrameAddress(
        subject.slice(subjects.reply('in', '').length),
        replyTo === undefined ? {} : { reply: replyTo },
      );
    const frame = { grant: 'secret', kind: 'd', seq: 17 };
    expect(parse(`${reply}.d.17`)).toEqual(frame);
    expect(parse(numberedBeside(reply, 'd'), '17')).toEqual(frame);
    // A keep-alive is answered, a frame that cannot exist has a number below all others.
    expect(parse(`${reply}.k.3`, 'rtr.inbox.gpu.gpu.w1.alive.secret')).toEqual({ ...frame, kind: 'k', seq: 3 });
    expect(parse(`${reply}.x.-1`)).toEqual({ ...frame, kind: 'x', seq: -1 });
  });

  it.each(['', 'grant', 'grant.d', '.d.0', 'grant.z.0', 'grant.toString.0', 'grant.d.', 'grant.d.x', 'grant.d.1.5'])(
    'do not take %j for a frame',
    (rest) => {
      expect(parseFrameAddress(rest, { reply: '0' })).toBeUndefined();
    },
  );

  it.each([undefined, '', 'x', '_', '1.5', '1e999', 'rtr.inbox.gpu.gpu.w1', '$JS.ACK.1'])(
    'do not take a message to be answered at %j for a numbered frame',
    (reply) => {
      expect(parseFrameAddress('grant.d._', reply === undefined ? {} : { reply })).toBeUndefined();
    },
  );

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
