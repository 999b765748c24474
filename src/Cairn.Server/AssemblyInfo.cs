// Small buffers are taken from the stack for every batch; clearing them would cost more than using them.
[module: System.Runtime.CompilerServices.SkipLocalsInit]
