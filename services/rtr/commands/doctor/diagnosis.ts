/** One thing that was looked at. */
export interface Diagnosis {
  subject: string;
  /** `missing` is what the router would be better with, or cannot do without. */
  state: 'ok' | 'missing' | 'info';
  told: string;
}

/** A diagnosis as lines for a person. */
export function diagnosisText(diagnoses: readonly Diagnosis[]): string {
  const signs = { ok: '✓', missing: '✗', info: '·' };
  return diagnoses.map(({ subject, state, told }) => `${signs[state]} ${subject.padEnd(10)} ${told}`).join('\n');
}
