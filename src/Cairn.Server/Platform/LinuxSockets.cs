// The system calls on sockets that the loops of Linux share, with the constants of x64 and arm64. Descriptors are plain numbers here.
// Each belongs to one channel or listener, which closes it once. The calls are too frequent for reference-counted handles.
using System.Net.Sockets;
using Cairn.Platform.Linux;

namespace Cairn.Server.Platform;

internal static unsafe partial class LinuxSockets
{
    // socket(2), accept4(2), send(2), shutdown(2)
    public const int UnixFamily = 1;
    public const int InternetFamily = 2;
    public const int Internet6Family = 10;
    public const int Stream = 1;
    public const int CloseOnExec = 0x80000;
    public const int NonBlocking = 0x800;
    public const int DontWait = 0x40;
    public const int WaitAll = 0x100;
    public const int NoSignal = 0x4000;
    public const int ShutSend = 1;
    public const int ShutBoth = 2;

    // setsockopt(2)
    private const int SocketLevel = 1;
    private const int Linger = 13;

    // tcp(7)
    private const int TcpLevel = 6;
    private const int TcpCongestionControl = 13;

    // getrlimit(2)
    private const int DescriptorLimit = 7;
    private const nuint OutputQueue = 0x5411; // SIOCOUTQ

    private const int AddressBytes = 128;
    private const DllImportSearchPath Search = DllImportSearchPath.SafeDirectories;

    public static int LastError => Marshal.GetLastPInvokeError();

    /// <summary>Returns whether accepting failed because of a shortage that may end soon.</summary>
    public static bool IsShortage(int error) => error is LinuxErrors.TooManyFilesInProcess or LinuxErrors.TooManyFilesOnMachine
        or LinuxErrors.NoBuffers or LinuxErrors.NoMemory;

    /// <summary>Sends as much as the kernel takes at once. Ignores failures.</summary>
    public static void TrySend(int descriptor, ReadOnlySpan<byte> bytes)
    {
        if (bytes.Length > 0)
        {
            fixed (byte* start = bytes)
            {
                _ = Send(descriptor, start, (nuint)bytes.Length, DontWait | NoSignal);
            }
        }
    }

    /// <summary>Locks all present and future memory of the process. Returns false if the system refuses.</summary>
    public static bool TryLockMemory()
    {
        const int PresentAndFuture = 3; // MCL_CURRENT | MCL_FUTURE
        return OperatingSystem.IsLinux() && LockAll(PresentAndFuture) == 0;
    }

    public static void ShutdownSend(int descriptor) => _ = Shutdown(descriptor, ShutSend);

    public static void ShutdownBoth(int descriptor) => _ = Shutdown(descriptor, ShutBoth);

    public static void CloseDescriptor(int descriptor) => _ = Close(descriptor);

    /// <summary>Makes the kernel discard undelivered output when the socket is closed, instead of keeping it for a client that does not
    /// read.</summary>
    public static void DropOnClose(int descriptor)
    {
        var linger = new LingerOption { IsOn = 1, Seconds = 0 };
        _ = SetOption(descriptor, SocketLevel, Linger, &linger, (uint)sizeof(LingerOption));
    }

    /// <summary>Makes a loopback socket, and the sockets accepted from it, use the kernel's simplest congestion control. Loopback is
    /// never congested. A congestion control that models the path and paces its packets (BBR) takes a fiftieth of the time of a short
    /// request. If the setting fails, only this gain is lost.</summary>
    public static void KeepCongestionControlPlain(Socket socket)
    {
        if (OperatingSystem.IsLinux())
        {
            fixed (byte* name = "reno"u8)
            {
                _ = SetOption((int)socket.Handle, TcpLevel, TcpCongestionControl, name, 4);
            }
        }
    }

    /// <summary>Returns the number of bytes that were sent and that the peer's system has not received. For a Unix socket, the number of
    /// bytes that the peer has not read.</summary>
    public static int UndeliveredBytes(int descriptor)
    {
        int bytes = 0;
        return Control(descriptor, OutputQueue, &bytes) == 0 ? bytes : 0;
    }

    /// <summary>Returns the address of the peer.</summary>
    public static PeerAddress PeerOf(int descriptor)
    {
        byte* address = stackalloc byte[AddressBytes];
        uint length = AddressBytes;
        return GetPeerName(descriptor, address, &length) == 0
            ? new PeerAddress(new ReadOnlySpan<byte>(address, (int)Math.Min(length, AddressBytes)))
            : default;
    }

    /// <summary>Returns the address that the peer connected to.</summary>
    public static PeerAddress LocalOf(int descriptor)
    {
        byte* address = stackalloc byte[AddressBytes];
        uint length = AddressBytes;
        return GetSocketName(descriptor, address, &length) == 0
            ? new PeerAddress(new ReadOnlySpan<byte>(address, (int)Math.Min(length, AddressBytes)))
            : default;
    }

    /// <summary>Raises the limit of descriptors of this process, if permitted.</summary>
    /// <returns>The limit that applies.</returns>
    public static long RaiseDescriptorLimit(long wanted)
    {
        if (LinuxNative.GetLimit(DescriptorLimit, out LinuxNative.Limits limits) != 0 || limits.Soft >= (ulong)wanted)
        {
            return limits.Soft > long.MaxValue ? long.MaxValue : (long)limits.Soft;
        }

        // Only privileged processes can exceed the hard limit. Others get the hard limit.
        var raised = new LinuxNative.Limits { Soft = (ulong)wanted, Hard = Math.Max((ulong)wanted, limits.Hard) };
        if (SetLimit(DescriptorLimit, &raised) == 0)
        {
            return wanted;
        }

        raised = new LinuxNative.Limits { Soft = Math.Min((ulong)wanted, limits.Hard), Hard = limits.Hard };
        return SetLimit(DescriptorLimit, &raised) == 0 ? (long)raised.Soft : (long)limits.Soft;
    }

    [LibraryImport("libc", EntryPoint = "mlockall")]
    [DefaultDllImportSearchPaths(Search)]
    private static partial int LockAll(int flags);

    [LibraryImport("libc", EntryPoint = "socket", SetLastError = true)]
    [DefaultDllImportSearchPaths(Search)]
    public static partial int Socket(int family, int type, int protocol);

    [LibraryImport("libc", EntryPoint = "socketpair", SetLastError = true)]
    [DefaultDllImportSearchPaths(Search)]
    public static partial int SocketPair(int family, int type, int protocol, int* descriptors);

    [LibraryImport("libc", EntryPoint = "bind", SetLastError = true)]
    [DefaultDllImportSearchPaths(Search)]
    public static partial int Bind(int descriptor, byte* address, uint length);

    [LibraryImport("libc", EntryPoint = "connect", SetLastError = true)]
    [DefaultDllImportSearchPaths(Search)]
    public static partial int Connect(int descriptor, byte* address, uint length);

    [LibraryImport("libc", EntryPoint = "listen", SetLastError = true)]
    [DefaultDllImportSearchPaths(Search)]
    public static partial int Listen(int descriptor, int backlog);

    [LibraryImport("libc", EntryPoint = "accept4", SetLastError = true)]
    [DefaultDllImportSearchPaths(Search)]
    public static partial int Accept(int descriptor, byte* address, uint* length, int flags);

    [LibraryImport("libc", EntryPoint = "recv", SetLastError = true)]
    [DefaultDllImportSearchPaths(Search)]
    public static partial nint Receive(int descriptor, byte* buffer, nuint count, int flags);

    [LibraryImport("libc", EntryPoint = "send", SetLastError = true)]
    [DefaultDllImportSearchPaths(Search)]
    public static partial nint Send(int descriptor, byte* buffer, nuint count, int flags);

    [LibraryImport("libc", EntryPoint = "sendmsg", SetLastError = true)]
    [DefaultDllImportSearchPaths(Search)]
    public static partial nint SendMessage(int descriptor, MessageHeader* message, int flags);

    [LibraryImport("libc", EntryPoint = "eventfd", SetLastError = true)]
    [DefaultDllImportSearchPaths(Search)]
    public static partial int EventDescriptor(uint initial, int flags);

    [LibraryImport("libc", EntryPoint = "write", SetLastError = true)]
    [DefaultDllImportSearchPaths(Search)]
    public static partial nint Write(int descriptor, void* buffer, nuint count);

    [LibraryImport("libc", EntryPoint = "read", SetLastError = true)]
    [DefaultDllImportSearchPaths(Search)]
    public static partial nint Read(int descriptor, void* buffer, nuint count);

    [LibraryImport("libc", EntryPoint = "ioctl", SetLastError = true)]
    [DefaultDllImportSearchPaths(Search)]
    private static partial int Control(int descriptor, nuint request, int* value);

    [LibraryImport("libc", EntryPoint = "shutdown", SetLastError = true)]
    [DefaultDllImportSearchPaths(Search)]
    private static partial int Shutdown(int descriptor, int how);

    [LibraryImport("libc", EntryPoint = "close", SetLastError = true)]
    [DefaultDllImportSearchPaths(Search)]
    private static partial int Close(int descriptor);

    [LibraryImport("libc", EntryPoint = "setsockopt", SetLastError = true)]
    [DefaultDllImportSearchPaths(Search)]
    private static partial int SetOption(int descriptor, int level, int name, void* value, uint length);

    [LibraryImport("libc", EntryPoint = "getpeername", SetLastError = true)]
    [DefaultDllImportSearchPaths(Search)]
    private static partial int GetPeerName(int descriptor, byte* address, uint* length);

    [LibraryImport("libc", EntryPoint = "getsockname", SetLastError = true)]
    [DefaultDllImportSearchPaths(Search)]
    private static partial int GetSocketName(int descriptor, byte* address, uint* length);

    [LibraryImport("libc", EntryPoint = "setrlimit", SetLastError = true)]
    [DefaultDllImportSearchPaths(Search)]
    private static partial int SetLimit(int resource, LinuxNative.Limits* limits);

    // struct iovec
    [StructLayout(LayoutKind.Sequential)]
    public struct IoVector
    {
        public byte* Start;
        public nuint Length;
    }

    // struct msghdr of 64-bit Linux
    [StructLayout(LayoutKind.Sequential)]
    public struct MessageHeader
    {
        public void* Name;
        public ulong NameLength;
        public IoVector* Vectors;
        public nuint VectorCount;
        public void* Control;
        public nuint ControlLength;
        public int Flags;
    }

    // struct linger
    [StructLayout(LayoutKind.Sequential)]
    private struct LingerOption
    {
        public int IsOn;
        public int Seconds;
    }
}
