namespace Cairn.Server.Io.Epoll;

/// <summary>The system calls of epoll(7), with the constants of x64 and arm64.</summary>
internal static unsafe partial class EpollNative
{
    public const int CloseOnExec = 0x80000;
    public const int Add = 1;
    public const int Delete = 2;
    public const int Modify = 3;
    public const uint In = 0x001;
    public const uint Out = 0x004;
    public const uint Error = 0x008;
    public const uint HangUp = 0x010;

    private const DllImportSearchPath Search = DllImportSearchPath.SafeDirectories;

    /// <summary>Gets the offset of the data in struct epoll_event, which is packed only on x64. The offset determines the struct's
    /// size.</summary>
    public static int DataOffset { get; } = RuntimeInformation.ProcessArchitecture == Architecture.X64 ? 4 : 8;

    public static int EventBytes => DataOffset + sizeof(ulong);

    public static int Control(int epoll, int operation, int descriptor, uint events, ulong data)
    {
        byte* entry = stackalloc byte[16];
        *(uint*)entry = events;
        *(ulong*)(entry + DataOffset) = data;
        return Control(epoll, operation, descriptor, entry);
    }

    [LibraryImport("libc", EntryPoint = "epoll_create1", SetLastError = true)]
    [DefaultDllImportSearchPaths(Search)]
    public static partial int Create(int flags);

    [LibraryImport("libc", EntryPoint = "epoll_wait", SetLastError = true)]
    [DefaultDllImportSearchPaths(Search)]
    public static partial int Wait(int epoll, byte* events, int count, int timeoutMs);

    [LibraryImport("libc", EntryPoint = "epoll_ctl", SetLastError = true)]
    [DefaultDllImportSearchPaths(Search)]
    private static partial int Control(int epoll, int operation, int descriptor, byte* entry);
}
