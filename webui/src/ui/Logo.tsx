// A samovar: teapot on the crown, round body with two handles and the tap, foot.
export function Logo({ size = 32 }: { size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 32 32" aria-hidden="true" focusable="false">
      <rect width="32" height="32" rx="7" fill="#1d4b73" />
      <g fill="#f2c39b">
      <circle cx="16" cy="4.7" r="1" />
      <path d="M12.6 8.9c-.3-1.9 1.1-3.3 3.4-3.3 1.5 0 2.7.6 3.2 1.6l2-1-.7 2.4-1.3.6z" />
      <rect x="12.2" y="9.8" width="7.6" height="1.5" rx=".75" />
      <path d="M10.4 12.2h11.2c2 3 1.5 6.7-.9 9.1-.9.9-1.6 1.5-1.9 2.2h-5.6c-.3-.7-1-1.3-1.9-2.2-2.4-2.4-2.9-6.1-.9-9.1Z" />
      <rect x="11.4" y="24.2" width="9.2" height="1.4" rx=".7" />
      <rect x="9.4" y="26.3" width="13.2" height="1.6" rx=".8" />
      </g>
      <g fill="none" stroke-width="1.4" stroke-linecap="round">
      <path stroke="#f2c39b" d="M9 13.9c-2.7-.7-3.5 3-.8 3.4M23 13.9c2.7-.7 3.5 3 .8 3.4" />
      <path stroke="#1d4b73" d="M14.3 15.4h3.4M16 15.4v5.2M16 20.6h-1.2" />
      </g>
    </svg>
  );
}
