using System.Net.Sockets;

namespace Cairn.Cli.Load;

// Uses epoll(7), and a timer for times shorter than its millisecond. Constants and structures are those of x64 and arm64.
internal sealed unsafe partial class EpollSockets : ReadySockets
{
    private const int CloseOnExec = 0x80000;
    private const int AddDescriptor = 1;
    private const int RemoveDescriptor = 2;
    private const int ChangeDescriptor = 3;
    private const uint Readable = 0x001;
    private const uint Writable = 0x004;
    private const uint EdgeTriggered = 1u << 31;
    private const int MonotonicClock = 1;
    private const int Interrupted = 4;
    private const int MostEvents = 512;
    private const long Millisecond = 1_000_000;
    private const DllImportSearchPath Search = DllImportSearchPath.SafeDirectories;

    private const ulong TimerNumber = ulong.MaxValue;

    // struct epoll_event is packed on x64 only.
    private static readonly int DataOffset = RuntimeInformation.ProcessArchitecture == Architecture.X64 ? 4 : 8;
    private static readonly int EventBytes = DataOffset + sizeof(ulong);

    private readonly int _epoll;
    private readonly int _timer;
    private readonly byte[] _events = GC.AllocateArray<byte>(MostEvents * 16, pinned: true);

    public EpollSockets()
    {
        _epoll = Check(Create(CloseOnExec));
        _timer = Check(CreateTimer(MonotonicClock, CloseOnExec));

        // Edge-triggered: setting the timer again creates a new edge, so the timer need not be read.
        Control(AddDescriptor, _timer, Readable | EdgeTriggered, TimerNumber);
    }

    public override void Add(Socket socket, int number) => Control(AddDescriptor, Of(socket), Readable, (uint)number);

    public override void Remove(Socket socket, int number) => Control(RemoveDescriptor, Of(socket), 0, (uint)number);

    public override void WatchOutput(Socket socket, int number, bool isWatched) =>
        Control(ChangeDescriptor, Of(socket), isWatched ? Readable | Writable : Readable, (uint)number);

    public override int Wait(long nanoseconds, Span<int> ready)
    {
        int milliseconds = nanoseconds <= 0 ? 0 : (int)Math.Min(int.MaxValue, (nanoseconds + Millisecond - 1) / Millisecond);
        if (nanoseconds > 0 && nanoseconds % Millisecond != 0 && nanoseconds < 100 * Millisecond)
        {
            var time = new TimerSetting { Seconds = 0, Nanoseconds = nanoseconds };
            Check(SetTimer(_timer, 0, &time, null));
        }

        fixed (byte* events = _events)
        {
            int count = WaitForEvents(_epoll, events, Math.Min(MostEvents, ready.Length), milliseconds);
            if (count < 0)
            {
                return Marshal.GetLastPInvokeError() == Interrupted ? 0 : Check(count);
            }

            int found = 0;
            for (int i = 0; i < count; i++)
            {
                ulong number = *(ulong*)(events + (i * EventBytes) + DataOffset);
                if (number != TimerNumber)
                {
                    ready[found++] = (int)number;
                }
            }

            return found;
        }
    }

    protected override void Dispose(bool isDisposing)
    {
        _ = Close(_timer);
        _ = Close(_epoll);
    }

    private static int Of(Socket socket) => (int)socket.SafeHandle.DangerousGetHandle();

    private static int Check(int result) => result >= 0
        ? result
        : throw new IOException(Marshal.GetPInvokeErrorMessage(Marshal.GetLastPInvokeError()));

    private void Control(int operation, int descriptor, uint events, ulong number)
    {
        byte* entry = stackalloc byte[16];
        *(uint*)entry = events;
        *(ulong*)(entry + DataOffset) = number;
        Check(Control(_epoll, operation, descriptor, entry));
    }

    [LibraryImport("libc", EntryPoint = "epoll_create1", SetLastError = true)]
    [DefaultDllImportSearchPaths(Search)]
    private static partial int Create(int flags);

    [LibraryImport("libc", EntryPoint = "epoll_wait", SetLastError = true)]
    [DefaultDllImportSearchPaths(Search)]
    private static partial int WaitForEvents(int epoll, byte* events, int count, int timeoutMs);

    [LibraryImport("libc", EntryPoint = "epoll_ctl", SetLastError = true)]
    [DefaultDllImportSearchPaths(Search)]
    private static partial int Control(int epoll, int operation, int descriptor, byte* entry);

    [LibraryImport("libc", EntryPoint = "timerfd_create", SetLastError = true)]
    [DefaultDllImportSearchPaths(Search)]
    private static partial int CreateTimer(int clock, int flags);

    [LibraryImport("libc", EntryPoint = "timerfd_settime", SetLastError = true)]
    [DefaultDllImportSearchPaths(Search)]
    private static partial int SetTimer(int timer, int flags, TimerSetting* setting, TimerSetting* earlier);

    [LibraryImport("libc", EntryPoint = "close", SetLastError = true)]
    [DefaultDllImportSearchPaths(Search)]
    private static partial int Close(int descriptor);

    // struct itimerspec of 64-bit Linux
    [StructLayout(LayoutKind.Sequential)]
    private struct TimerSetting
    {
        public long IntervalSeconds;
        public long IntervalNanoseconds;
        public long Seconds;
        public long Nanoseconds;
    }
}
