// Small buffers are allocated on the stack for every batch. Clearing them would cost more than using them.
[module: System.Runtime.CompilerServices.SkipLocalsInit]
