// A samovar in seven strokes: crown, chimney, body, two handles, tap, foot.
export function Logo({ size = 32 }: { size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 32 32" aria-hidden="true" focusable="false">
      <rect width="32" height="32" rx="7" fill="#1d4b73" />
      <g fill="none" stroke="#f4c9a4" stroke-width="2" stroke-linecap="round" stroke-linejoin="round">
        <path d="M13.5 6.5h5M14 9.5h4" />
        <path d="M9.5 12.5h13c.4 5.2-1.8 8.2-4.5 10h-4c-2.7-1.8-4.9-4.8-4.5-10Z" />
        <path d="M9.5 14.5h-3V18M22.5 14.5h3V18M16 19.5V21M11.5 26h9M14.5 22.5l-1 3.5M17.5 22.5l1 3.5" />
      </g>
    </svg>
  );
}
