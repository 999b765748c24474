// Nearly every message takes scratch space for numbers from the stack. Clearing it would cost more than using it.
[module: System.Runtime.CompilerServices.SkipLocalsInit]
