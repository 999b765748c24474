// Scratch space for numbers is taken from the stack by nearly every message; clearing it would cost more than using it.
[module: System.Runtime.CompilerServices.SkipLocalsInit]
