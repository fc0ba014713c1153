import { describe, expect, it } from 'vitest';
import { attemptOf, consumerName, createSubjects, parseFrameAddress } from '#shared/broker/subjects.ts';

const subjects = createSubjects('rtr');

describe('subjects', () => {
  it('name a lane by tier, pool and class', () => {
    const lane = { tier: 'gpu', pool: 'vllm-1', class: 'high' } as const;
    expect(subjects.jobs(lane)).toBe('rtr.jobs.gpu.vllm-1.high');
    expect(consumerName(lane)).toBe('gpu_vllm-1_high');
  });

  it('lead a frame back to its job, attempt, kind and number', () => {
    const subject = `${subjects.reply('in', 'job', 2)}.d.17`;
    const rest = subject.slice(subjects.allReplies('in').length - 1);
    expect(parseFrameAddress(rest)).toEqual({ job: 'job', attempt: 2, kind: 'd', seq: 17 });
  });

  it.each(['', 'job', 'job.1', 'job.1.z.0', 'job.1.toString.0'])('do not take %j for a frame', (rest) => {
    expect(parseFrameAddress(rest)).toBeUndefined();
  });

  it('tell the attempt that a reply subject belongs to, whatever the prefix', () => {
    expect(attemptOf(subjects.reply('in', 'job', 3))).toBe('job.3');
    expect(attemptOf('_INBOX.x.alive.job.3')).toBe('job.3');
  });

  it('make a stream name of any prefix', () => {
    expect(createSubjects('a.b c').stream).toBe('a_b_c_JOBS');
  });
});
