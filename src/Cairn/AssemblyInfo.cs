// Buffers for keys are taken from the stack by nearly every operation; clearing them would cost more than using them.
[module: System.Runtime.CompilerServices.SkipLocalsInit]
