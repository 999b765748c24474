// The three system calls of io_uring, with the structures of linux/io_uring.h. The numbers and the layouts are the same on every
// architecture.
using Microsoft.Win32.SafeHandles;

namespace Cairn.Server.Io.Uring;

internal static unsafe partial class UringNative
{
    // Setup
    public const uint SetupCqSize = 1u << 3;
    public const uint SetupClamp = 1u << 4;
    public const uint SetupSubmitAll = 1u << 7;
    public const uint SetupCooperativeWork = 1u << 8;
    public const uint SetupSingleIssuer = 1u << 12;
    public const uint SetupDeferredWork = 1u << 13;

    public const uint FeatureSingleMap = 1u << 0;
    public const uint FeatureNoDrop = 1u << 1;
    public const uint FeatureSubmitStable = 1u << 2;
    public const uint FeatureExtendedArgument = 1u << 8;

    public const long OffsetOfRings = 0;
    public const long OffsetOfEntries = 0x1000_0000;

    // Enter
    public const uint EnterGetEvents = 1u << 0;
    public const uint EnterExtendedArgument = 1u << 3;
    public const uint EnterRegisteredRing = 1u << 4;

    // Register
    public const uint RegisterRingDescriptors = 20;
    public const uint RegisterBufferRing = 22;

    // Operations
    public const byte OpAccept = 13;
    public const byte OpAsyncCancel = 14;
    public const byte OpSendMessage = 9;
    public const byte OpRead = 22;
    public const byte OpSend = 26;
    public const byte OpReceive = 27;

    public const byte EntryBufferSelect = 1 << 5;
    public const byte EntrySilentSuccess = 1 << 6;

    public const ushort AcceptMultishot = 1 << 0;
    public const ushort ReceiveMultishot = 1 << 1;

    // The submission queue's flags
    public const uint CompletionsOverflow = 1u << 1;

    // Completions
    public const uint CompletionHasBuffer = 1u << 0;
    public const uint CompletionMore = 1u << 1;
    public const int CompletionBufferShift = 16;

    private const nint SetupNumber = 425;
    private const nint EnterNumber = 426;
    private const nint RegisterNumber = 427;
    private const DllImportSearchPath Search = DllImportSearchPath.SafeDirectories;

    public static int LastError => Marshal.GetLastPInvokeError();

    /// <summary>Calls io_uring_setup. Returns the ring's descriptor, or -1.</summary>
    public static int Setup(uint entries, Parameters* parameters) => (int)SetupCall(SetupNumber, entries, parameters);

    /// <summary>Calls io_uring_enter. Returns the number of entries submitted, or the negative error number.</summary>
    public static int Enter(int ring, uint submit, uint minimum, uint flags, void* argument, nuint argumentBytes)
    {
        nint result = EnterCall(EnterNumber, ring, submit, minimum, flags, argument, argumentBytes);
        return result >= 0 ? (int)result : -LastError;
    }

    /// <summary>Calls io_uring_register. Returns 0 or more, or the negative error number.</summary>
    public static int Register(SafeFileHandle ring, uint operation, void* argument, uint count)
    {
        nint result = RegisterCall(RegisterNumber, ring, operation, argument, count);
        return result >= 0 ? (int)result : -LastError;
    }

    [LibraryImport("libc", EntryPoint = "syscall", SetLastError = true)]
    [DefaultDllImportSearchPaths(Search)]
    private static partial nint SetupCall(nint number, nuint entries, Parameters* parameters);

    [LibraryImport("libc", EntryPoint = "syscall", SetLastError = true)]
    [DefaultDllImportSearchPaths(Search)]
    private static partial nint EnterCall(
        nint number, nint ring, nuint submit, nuint minimum, nuint flags, void* argument, nuint argumentBytes);

    [LibraryImport("libc", EntryPoint = "syscall", SetLastError = true)]
    [DefaultDllImportSearchPaths(Search)]
    private static partial nint RegisterCall(nint number, SafeFileHandle ring, nuint operation, void* argument, nuint count);

    // struct io_uring_params
    [StructLayout(LayoutKind.Sequential)]
    public struct Parameters
    {
        public uint SubmissionEntries;
        public uint CompletionEntries;
        public uint Flags;
        public uint ThreadCpu;
        public uint ThreadIdle;
        public uint Features;
        public uint WorkQueue;
        public fixed uint Reserved[3];
        public SubmissionOffsets Submission;
        public CompletionOffsets Completion;
    }

    // struct io_sqring_offsets
    [StructLayout(LayoutKind.Sequential)]
    public struct SubmissionOffsets
    {
        public uint Head;
        public uint Tail;
        public uint Mask;
        public uint Entries;
        public uint Flags;
        public uint Dropped;
        public uint Array;
        public uint Reserved;
        public ulong UserAddress;
    }

    // struct io_cqring_offsets
    [StructLayout(LayoutKind.Sequential)]
    public struct CompletionOffsets
    {
        public uint Head;
        public uint Tail;
        public uint Mask;
        public uint Entries;
        public uint Overflow;
        public uint Completions;
        public uint Flags;
        public uint Reserved;
        public ulong UserAddress;
    }

    // struct io_uring_sqe
    [StructLayout(LayoutKind.Explicit, Size = 64)]
    public struct Entry
    {
        [FieldOffset(0)]
        public byte Operation;

        [FieldOffset(1)]
        public byte Flags;

        [FieldOffset(2)]
        public ushort Priority;

        [FieldOffset(4)]
        public int Descriptor;

        [FieldOffset(8)]
        public ulong Offset;

        [FieldOffset(16)]
        public ulong Address;

        [FieldOffset(24)]
        public uint Length;

        [FieldOffset(28)]
        public uint OperationFlags;

        [FieldOffset(32)]
        public ulong UserData;

        [FieldOffset(40)]
        public ushort BufferGroup;
    }

    // struct io_uring_cqe
    [StructLayout(LayoutKind.Sequential)]
    public struct Completion
    {
        public ulong UserData;
        public int Result;
        public uint Flags;
    }

    // struct io_uring_getevents_arg
    [StructLayout(LayoutKind.Sequential)]
    public struct WaitArgument
    {
        public ulong SignalMask;
        public uint SignalMaskBytes;
        public uint Reserved;
        public ulong Timespec;
    }

    // struct io_uring_buf_reg
    [StructLayout(LayoutKind.Sequential)]
    public struct BufferRingRegistration
    {
        public ulong Address;
        public uint Entries;
        public ushort Group;
        public ushort Flags;
        public fixed ulong Reserved[3];
    }

    // struct io_uring_buf
    [StructLayout(LayoutKind.Sequential)]
    public struct ProvidedBuffer
    {
        public ulong Address;
        public uint Length;
        public ushort Id;
        public ushort Reserved;
    }

    // struct io_uring_rsrc_update
    [StructLayout(LayoutKind.Sequential)]
    public struct ResourceUpdate
    {
        public uint Offset;
        public uint Reserved;
        public ulong Data;
    }
}
