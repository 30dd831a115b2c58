// Tests read numbers and dates in one language, whatever the machine speaks.
import { setFormatLocale } from '../src/lib/format';

setFormatLocale('en-GB');
