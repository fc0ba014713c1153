/** Subjects of the bare prototype: one lane and one ingress. */
export const bareStream = 'BARE_JOBS';
export const bareJobs = 'bare.jobs';
export const bareClaim = 'bare.claim';
