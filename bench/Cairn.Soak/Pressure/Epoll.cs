using System.Net.Sockets;
using System.Runtime.InteropServices;

namespace Cairn.Soak.Pressure;

/// <summary>The kernel's list of sockets that can be read. Only one thread may use an object.</summary>
internal sealed unsafe partial class Epoll : IDisposable
{
    private const int Add = 1;
    private const uint Readable = 1;
    private const int MostEvents = 256;

    private readonly int _descriptor = Check(NativeCreate(0));
    private readonly byte[] _events = new byte[MostEvents * EventBytes];

    // struct epoll_event is packed on x64 only: events (4 bytes), then data (8 bytes).
    private static int DataOffset => RuntimeInformation.ProcessArchitecture == Architecture.X64 ? 4 : 8;

    private static int EventBytes => DataOffset + 8;

    /// <summary>Watches the socket. <see cref="Wait"/> reports it by this number.</summary>
    public void Watch(Socket socket, int number)
    {
        byte* one = stackalloc byte[EventBytes];
        *(uint*)one = Readable;
        *(long*)(one + DataOffset) = number;
        Check(NativeControl(_descriptor, Add, (int)socket.Handle, one));
    }

    /// <summary>Waits until sockets can be read, or until the time is over. Returns their count. <see cref="this"/> has their numbers.</summary>
    public int Wait(TimeSpan longest)
    {
        var time = new TimeSpec { Seconds = longest.Ticks / TimeSpan.TicksPerSecond, Nanoseconds = longest.Ticks % TimeSpan.TicksPerSecond * 100 };
        fixed (byte* events = _events)
        {
            int count = NativeWait(_descriptor, events, MostEvents, &time, null);
            return Math.Max(count, 0); // A signal can interrupt the call.
        }
    }

    public int this[int i] => (int)BitConverter.ToInt64(_events, (i * EventBytes) + DataOffset);

    public void Dispose() => _ = NativeClose(_descriptor);

    private static int Check(int result) => result >= 0 ? result : throw new InvalidOperationException($"epoll failed: errno {Marshal.GetLastPInvokeError()}.");

    private struct TimeSpec
    {
        public long Seconds;
        public long Nanoseconds;
    }

    [LibraryImport("libc", EntryPoint = "epoll_create1", SetLastError = true)]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    private static partial int NativeCreate(int flags);

    [LibraryImport("libc", EntryPoint = "epoll_ctl", SetLastError = true)]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    private static partial int NativeControl(int descriptor, int operation, int socket, void* one);

    [LibraryImport("libc", EntryPoint = "epoll_pwait2", SetLastError = true)]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    private static partial int NativeWait(int descriptor, void* events, int most, TimeSpec* longest, void* signals);

    [LibraryImport("libc", EntryPoint = "close")]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    private static partial int NativeClose(int descriptor);
}
