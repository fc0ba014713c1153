import { describe, expect, it } from 'vitest';
import {
  formatAgo,
  formatBytes,
  formatDuration,
  formatMoney,
  formatShort,
  formatTokens,
} from '#services/console/web/parts/format.ts';

const now = Date.UTC(2026, 10, 21);

describe('displayed values', () => {
  it('show money with its significant digits', () => {
    const shown = [0, 0.56, 0.0375, 0.00001, 3, 1_234.5].map(formatMoney);
    expect(shown).toEqual(['$0.00', '$0.56', '$0.0375', '< $0.0001', '$3.00', '$1,234.50']);
  });

  it('show bytes in powers of 1,024', () => {
    const shown = [0, 512, 1_536, 4 * 1_024 ** 3, 2_000 * 1_024 ** 4].map(formatBytes);
    expect(shown).toEqual(['0 bytes', '512 bytes', '1.5 KiB', '4 GiB', '2,000 TiB']);
  });

  it('show durations in the unit that fits', () => {
    const shown = [7, 3_400, 120_000, 7_200_000, 5 * 86_400_000].map(formatDuration);
    expect(shown).toEqual(['7 ms', '3.4 s', '2 min', '2 h', '5 days']);
    const ago = [-5_000, -300_000, -7_200_000, 3 * 86_400_000].map((ms) => formatAgo(now + ms, now));
    expect(ago).toEqual(['just now', '5 minutes ago', '2 hours ago', 'in 3 days']);
  });

  it('round future times to the nearest unit, and never show them as past', () => {
    const lasting = [5_000, 8 * 3_600_000 + 120_000, 7 * 86_400_000 - 1_000];
    expect(lasting.map((ms) => formatAgo(now + ms, now))).toEqual(['in a moment', 'in 8 hours', 'in 7 days']);
  });

  it('shorten large counts', () => {
    expect([0, 12.34, 9_999, 1_234_567].map(formatShort)).toEqual(['0', '12.3', '9,999', '1.2M']);
    expect([131_072, 1_048_576, 200_000].map(formatTokens)).toEqual(['128K', '1M', '200K']);
  });
});
