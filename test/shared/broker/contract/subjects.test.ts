import { describe, expect, it } from 'vitest';
import {
  formatConsumerName,
  createSubjects,
  parseGrantToken,
  formatUnnumberedSubject,
  parseFrameAddress,
} from '#shared/broker/contract/subjects.ts';
import { parseWorkerAddress, formatWorkerId } from '#shared/broker/contract/worker-address.ts';

const subjects = createSubjects('rtr');

describe('subjects', () => {
  it('name a lane by tier, pool and class, in a stream of its tier', () => {
    const lane = { tier: 'gpu', pool: 'vllm-1', class: 'high' } as const;
    expect(subjects.jobs(lane)).toBe('rtr.jobs.gpu.vllm-1.high');
    expect(subjects.stream('gpu')).toBe('rtr_JOBS_gpu');
    expect(formatConsumerName(lane)).toBe('vllm-1_high');
  });

  it('give grant, kind and number of a frame, whether the number is in the subject or outside', () => {
    const reply = subjects.reply('in', 'secret');
    const parse = (subject: string, replyTo?: string): unknown =>
      parseFrameAddress(
        subject.slice(subjects.reply('in', '').length),
        replyTo === undefined ? {} : { reply: replyTo },
      );
    const frame = { grant: 'secret', kind: 'd', seq: 17 };
    expect(parse(`${reply}.d.17`)).toEqual(frame);
    expect(parse(formatUnnumberedSubject(reply, 'd'), '17')).toEqual(frame);
    // A keep-alive is answered; the frame that cannot exist has a number below all others.
    expect(parse(`${reply}.k.3`, 'rtr.inbox.gpu.gpu.w1.p.alive.secret')).toEqual({ ...frame, kind: 'k', seq: 3 });
    expect(parse(`${reply}.x.-1`)).toEqual({ ...frame, kind: 'x', seq: -1 });
  });

  it.each(['', 'grant', 'grant.d', '.d.0', 'grant.z.0', 'grant.toString.0', 'grant.d.', 'grant.d.x', 'grant.d.1.5'])(
    "are not parsed as a frame's: %j",
    (rest) => {
      expect(parseFrameAddress(rest, { reply: '0' })).toBeUndefined();
    },
  );

  const noNumbers = [undefined, '', 'x', '_', '1.5', '1e999', 'rtr.inbox.gpu.gpu.w1', '$JS.ACK.1'];
  it.each(noNumbers)('do not give a frame number if the reply subject is %j', (reply) => {
    expect(parseFrameAddress('grant.d._', reply === undefined ? {} : { reply })).toBeUndefined();
  });

  it('give the grant of a reply subject, whatever the prefix', () => {
    expect(parseGrantToken(subjects.reply('in', 'secret'))).toBe('secret');
    expect(parseGrantToken('rtr.inbox.gpu.open.w.1.alive.secret')).toBe('secret');
  });

  it("contain their worker's tier, owner, name and process", () => {
    const address = { tier: 'cloud', credentialName: 'joes-box', worker: 'cloud-1', process: 'UABC' } as const;
    for (const subject of [subjects.heartbeat(address), subjects.claim('in', address), subjects.lanes(address)])
      expect(parseWorkerAddress(subject)).toEqual(address);
    expect(parseWorkerAddress('rtr.heartbeat.quantum.open.w.p')).toBeUndefined();
    expect(formatWorkerId(address)).toBe('joes-box.cloud-1');
    expect(formatWorkerId({ ...address, credentialName: 'open' })).toBe('cloud-1');
  });
});
