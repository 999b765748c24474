// Nearly every operation takes a key buffer from the stack. Clearing that buffer would cost more than using it.
[module: System.Runtime.CompilerServices.SkipLocalsInit]
