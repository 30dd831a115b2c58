// The icons, drawn as strokes on a 20 × 20 grid. They decorate: the words beside them carry the meaning.
const paths = {
  overview: 'M3.5 13.5a6.5 6.5 0 1 1 13 0M10 13.5l3-4M3.5 16.5h13',
  nodes: 'M3.5 4h13v5h-13zM3.5 11h13v5h-13zM6.2 6.5h.1M6.2 13.5h.1M9 6.5h4.5M9 13.5h4.5',
  bin: 'M4 6h12M8 6V3.5h4V6M5.5 6l.8 10.5h7.4L14.5 6M8.5 9v4.5M11.5 9v4.5',
  users: 'M7.5 9.5a3 3 0 1 0 0-6 3 3 0 0 0 0 6ZM2 16.5c.3-3 2.5-4.5 5.5-4.5s5.2 1.5 5.5 4.5M13 9.3a2.6 2.6 0 1 0-.8-5.1M14.5 12.2c2 .4 3.3 1.8 3.5 4.3',
  key: 'M7 13.5a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7ZM10.5 10h7M15 10v3M17.5 10v2',
  devices: 'M2.5 4.5h11v8h-11zM5 15.5h5M14.5 8.5h3v7h-4.5',
  audit: 'M4.5 3h8l3 3v11h-11zM12.5 3v3h3M7 10l1.5 1.5L12 8.5M7 14.5h6',
  settings: 'M3 6h6M13 6h4M3 14h2M9 14h8M11 4v4M7 12v4',
  person: 'M10 9.5a3 3 0 1 0 0-6 3 3 0 0 0 0 6ZM4 16.5c.4-3 2.8-4.5 6-4.5s5.6 1.5 6 4.5',
  sun: 'M10 13a3 3 0 1 0 0-6 3 3 0 0 0 0 6ZM10 2.5v1.5M10 16v1.5M2.5 10H4M16 10h1.5M4.7 4.7l1 1M14.3 14.3l1 1M4.7 15.3l1-1M14.3 5.7l1-1',
  moon: 'M16 11.5A6.5 6.5 0 0 1 8.5 4a6.5 6.5 0 1 0 7.5 7.5Z',
  monitor: 'M3 4h14v9H3zM7.5 16.5h5M10 13v3.5',
  help: 'M10 17a7 7 0 1 0 0-14 7 7 0 0 0 0 14ZM8 8a2 2 0 1 1 2.8 1.8c-.5.3-.8.7-.8 1.4M10 13.8h.01',
  menu: 'M3 5.5h14M3 10h14M3 14.5h14',
  close: 'M5 5l10 10M15 5 5 15',
  pause: 'M7 4.5v11M13 4.5v11',
  play: 'M6.5 4.5v11l9-5.5z',
  download: 'M10 3v9M6.5 9l3.5 3.5L13.5 9M4 16.5h12',
  check: 'M4.5 10.5l3.5 3.5 7.5-8',
  ok: 'M10 17a7 7 0 1 0 0-14 7 7 0 0 0 0 14ZM7 10.2l2 2 4-4.4',
  warning: 'M10 3.5l7.5 13h-15zM10 8.5v3.5M10 14.3h.01',
  critical: 'M7 3h6l4 4v6l-4 4H7l-4-4V7zM10 6.5v4.5M10 13.5h.01',
  info: 'M10 17a7 7 0 1 0 0-14 7 7 0 0 0 0 14ZM10 9.5V14M10 6.5h.01',
  off: 'M10 17a7 7 0 1 0 0-14 7 7 0 0 0 0 14ZM6.5 10h7',
  copy: 'M7 7h9v9H7zM4 13V4h9',
  eye: 'M2 10s3-5 8-5 8 5 8 5-3 5-8 5-8-5-8-5ZM10 12.2a2.2 2.2 0 1 0 0-4.4 2.2 2.2 0 0 0 0 4.4Z',
  eyeOff: 'M3 3l14 14M8 5.3C8.6 5.1 9.3 5 10 5c5 0 8 5 8 5s-.8 1.3-2.2 2.6M13 14.3c-.9.4-1.9.7-3 .7-5 0-8-5-8-5s1.2-1.9 3.3-3.4',
  tray: 'M3 11l2.5-7h9L17 11v5H3zM3 11h4l1 2h4l1-2h4',
  logout: 'M8 3.5H4v13h4M12 6.5l3.5 3.5-3.5 3.5M15.5 10H8',
  plus: 'M10 4v12M4 10h12',
  chevron: 'M7 4.5l5.5 5.5L7 15.5',
  back: 'M12.5 4.5 7 10l5.5 5.5',
  table: 'M3 4h14v12H3zM3 8h14M3 12h14M8.5 4v12',
  chart: 'M3 3v14h14M6 13l3.5-4 3 2.5L17 6',
  shield: 'M10 2.5l6 2v5c0 4-2.5 6.5-6 8-3.5-1.5-6-4-6-8v-5zM7.2 9.8l2 2 3.6-4',
  lock: 'M4.5 9h11v7.5h-11zM7 9V6.5a3 3 0 0 1 6 0V9M10 12v1.5',
  power: 'M11 2.5 4.5 11.5H9.5L9 17.5l6.5-9h-5z',
  disk: 'M3.5 6c0-1.4 2.9-2.5 6.5-2.5s6.5 1.1 6.5 2.5v8c0 1.4-2.9 2.5-6.5 2.5S3.5 15.4 3.5 14zM3.5 6c0 1.4 2.9 2.5 6.5 2.5S16.5 7.4 16.5 6M3.5 10c0 1.4 2.9 2.5 6.5 2.5s6.5-1.1 6.5-2.5',
  bolt: 'M3 10h3l2-5 4 10 2-5h3',
  thermometer: 'M8 11.2V4.5a2 2 0 0 1 4 0v6.7a3.6 3.6 0 1 1-4 0ZM10 8v6',
  upload: 'M10 12.5V3.5M6.5 7 10 3.5 13.5 7M4 16.5h12',
  chip: 'M5.5 5.5h9v9h-9zM8.5 8.5h3v3h-3zM8 2.5v3M12 2.5v3M8 14.5v3M12 14.5v3M2.5 8h3M2.5 12h3M14.5 8h3M14.5 12h3',
  gauge: 'M3.5 14a6.5 6.5 0 1 1 13 0M10 14l2.5-5',
  model: 'M10 2.5l6.5 3.75v7.5L10 17.5l-6.5-3.75v-7.5zM3.5 6.25 10 10l6.5-3.75M10 10v7.5',
  refresh: 'M16 6.5A7 7 0 1 0 17 10M16.5 3v4h-4',
  certificate: 'M3 4h14v9h-5M3 4v9h4M6 7h8M6 9.5h4M9.5 14.5a2.3 2.3 0 1 0 0-4.6M9.5 10.4a2.1 2.1 0 1 0 0 4.2M8.3 14.2v3.3l1.4-.9 1.4.9v-3.3',
} as const;

export type IconName = keyof typeof paths;

export function Icon({ name, size = 18 }: { name: IconName; size?: number }) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 20 20"
      fill="none"
      stroke="currentColor"
      stroke-width="1.6"
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
      focusable="false"
    >
      <path d={paths[name]} />
    </svg>
  );
}
