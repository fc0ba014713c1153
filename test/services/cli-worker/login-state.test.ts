import { rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { LoginState } from '#services/cli-worker/login-state.ts';
import { silentLog as log } from '../../helpers/silent-log.ts';
import { temporaryFolder } from '../../helpers/files/temporary-folder.ts';

const facts = { models: [], slots: 2, accepting: true };

let file: string;
let changes: number;
let login: LoginState;

beforeEach(() => {
  vi.useFakeTimers();
  file = join(temporaryFolder(), 'auth.json');
  writeFileSync(file, '{}');
  changes = 0;
  login = new LoginState(file, log, () => (changes += 1));
});
afterEach(() => {
  login.close();
  vi.useRealTimers();
});

describe('a login that the upstream refuses', () => {
  it('makes the worker take no jobs, and announce until when', () => {
    expect(login.restrictFacts(facts)).toEqual(facts);
    login.recordRefused();
    const resumesAt = Date.now() + 60_000;
    expect(login.restrictFacts(facts)).toEqual({ ...facts, accepting: false, reason: 'failing: login', resumesAt });
    expect(changes).toBe(1);
  });

  it('is tried again after a minute, then after two, and after one once it was accepted', () => {
    for (const minutes of [1, 2, 4, 8, 8]) {
      login.recordRefused();
      vi.advanceTimersByTime(minutes * 60_000 - 1_000);
      expect(login.restrictFacts(facts).accepting).toBe(false);
      vi.advanceTimersByTime(1_000);
      expect(login.restrictFacts(facts)).toEqual(facts);
    }
    login.recordAccepted();
    login.recordRefused();
    vi.advanceTimersByTime(60_000);
    expect(login.restrictFacts(facts).accepting).toBe(true);
  });

  it('is tried again as soon as a person has signed in anew', () => {
    login.recordRefused();
    vi.advanceTimersByTime(5_000);
    expect(login.restrictFacts(facts).accepting).toBe(false);
    utimesSync(file, new Date(), new Date(Date.now() + 5_000));
    vi.advanceTimersByTime(1_000);
    expect(login.restrictFacts(facts)).toEqual(facts);
    expect(changes).toBe(2);
  });

  it('is tried again when its file can no longer be read', () => {
    login.recordRefused();
    rmSync(file);
    symlinkSync(file, file);
    vi.advanceTimersByTime(1_000);
    expect(login.restrictFacts(facts)).toEqual(facts);
    login.recordRefused();
    expect(login.restrictFacts(facts).accepting).toBe(false);
  });
});
