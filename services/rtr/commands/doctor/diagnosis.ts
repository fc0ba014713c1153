export interface Diagnosis {
  subject: string;
  /** `missing`: the router needs the subject, or works better with it. */
  state: 'ok' | 'missing' | 'info';
  detail: string;
}

/** Formats diagnoses as lines for a person. */
export function formatDiagnoses(diagnoses: readonly Diagnosis[]): string {
  const signs = { ok: '✓', missing: '✗', info: '·' };
  return diagnoses.map(({ subject, state, detail }) => `${signs[state]} ${subject.padEnd(10)} ${detail}`).join('\n');
}
