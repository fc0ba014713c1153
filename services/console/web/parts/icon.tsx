const shapes = {
  overview: 'M4 19V9m5 10V5m5 14v-7m5 7V8',
  workers: 'M4 5h16v5H4zM4 14h16v5H4zM8 7.5h.01M8 16.5h.01',
  models: 'M12 3l8 4.5v9L12 21l-8-4.5v-9zM12 12l8-4.5M12 12v9M12 12L4 7.5',
  playground: 'M5 5h14v10H10l-5 4z',
  tools: 'M14.5 6.5a4 4 0 0 0-5 5L4 17l3 3 5.500-5.500a4 4 0 0 0 5-5L15 12l-3-3z',
  connections: 'M9 15l6-6M8 12l-2 2a3.500 3.500 0 0 0 5 5l2-2M16 12l2-2a3.500 3.500 0 0 0-5-5l-2 2',
  keys: 'M8 15a4 4 0 1 1 3.500-6H20v3h-2v3h-3v-3h-3.500A4 4 0 0 1 8 15zM8 11h.01',
  webhooks: 'M9 8a3 3 0 1 1 4 2.800L16 16M7 13a3 3 0 1 0 3 4h6M16 13a3 3 0 1 1-1.500 5.500M11 10.500L8 15.500',
  teams: 'M9 11a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM3 19c0-4 3-5 6-5s6 1 6 5M16 5a3 3 0 0 1 0 6M18 14c2 1 3 2 3 5',
  batches: 'M4 6h16M4 12h16M4 18h9M17 16l2 2 3-4',
  files: 'M6 3h8l4 4v14H6zM14 3v4h4M9 12h6M9 16h6',
  requests: 'M4 6h10M4 12h16M4 18h7',
  sessions: 'M6 4v12a3 3 0 0 0 3 3h4M6 9h7M16 16h4v6h-4zM16 6h4v6h-4zM4 2h4v4H4z',
  usage: 'M4 19h16M6 16l4-5 4 3 5-8',
  admin: 'M12 3l7 3v5c0 5-3 8-7 10-4-2-7-5-7-10V6zM9 12l2 2 4-4',
  copy: 'M9 9h10v11H9zM5 15V4h10',
  check: 'M5 12l5 5L19 7',
  close: 'M6 6l12 12M18 6L6 18',
  plus: 'M12 5v14M5 12h14',
  trash: 'M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13',
  rotate: 'M19 12a7 7 0 1 1-2-5l2 2M19 4v5h-5',
  edit: 'M5 19l1-4L16 5l3 3L9 18zM14 7l3 3',
  stop: 'M7 7h10v10H7z',
  send: 'M12 19V5M6 11l6-6 6 6',
  image: 'M4 5h16v14H4zM4 16l5-5 4 4 3-3 4 4M15 9h.01',
  user: 'M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM4 21c1-5 4-6 8-6s7 1 8 6',
  sun: 'M12 8a4 4 0 1 1 0 8 4 4 0 0 1 0-8zM12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.500 1.500M17.500 17.500L19 19M5 19l1.500-1.500M17.500 6.500L19 5',
  moon: 'M20 14A8.500 8.500 0 0 1 10 4a8.500 8.500 0 1 0 10 10z',
  system: 'M4 5h16v11H4zM9 20h6M12 16v4',
  download: 'M12 4v11M7 11l5 5 5-5M5 20h14',
  more: 'M6 12h.01M12 12h.01M18 12h.01',
} as const;

export type IconName = keyof typeof shapes;

/** A decorative line drawing beside its label, hidden from screen readers. */
export function Icon({ name, size = 18 }: { name: IconName; size?: number }) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.7"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
      focusable="false"
    >
      <path d={shapes[name]} />
    </svg>
  );
}
