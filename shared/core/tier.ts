/** The tiers of workers, in the order in which `auto` tries them. */
export const tiers = ['gpu', 'cli', 'cloud', 'tools'] as const;
export type Tier = (typeof tiers)[number];

export const modelTiers = ['gpu', 'cli', 'cloud'] as const;
