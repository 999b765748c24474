using System.Globalization;
using System.Runtime.InteropServices;
using Cairn.Platform;
using Cairn.Platform.Linux;

namespace Cairn.Tests.Platform;

/// <summary>Implements the roles of child processes in platform tests.</summary>
internal static partial class PlatformRoles
{
    private const uint OtherUser = 65534;
    private const int FileSizeLimit = 1; // RLIMIT_FSIZE

    /// <summary>PATH OFFSET: locks the byte, prints "held", and keeps the lock until the input ends.</summary>
    public static void HoldByte(string[] args)
    {
        using StoreFile file = HostPlatform.Current.Open(args[0]);
        Console.WriteLine(file.TryLockByte(long.Parse(args[1], CultureInfo.InvariantCulture)) ? "held" : "refused");
        Console.ReadLine();
    }

    /// <summary>DIRECTORY NAME: creates a file under a temporary name, prints "created", and keeps it until the input ends.</summary>
    public static void HoldTemporaryName(string[] args)
    {
        using StoreFile file = LinuxPlatform.CreateTemporarilyNamed(args[0], args[1]);
        Console.WriteLine("created");
        Console.ReadLine();
    }

    /// <summary>DIRECTORY NAME: creates a file without a name, prints "created", and keeps it until the input ends.</summary>
    public static void HoldUnnamedFile(string[] args)
    {
        using StoreFile file = HostPlatform.Current.CreateUnnamed(args[0], args[1]);
        file.Preallocate(0, 1 << 20);
        Console.WriteLine("created");
        Console.ReadLine();
    }

    /// <summary>PATH: becomes a user without rights, opens the file, and prints the type of the exception.</summary>
    public static void OpenAsOtherUser(string[] args)
    {
        BecomeNobody();
        Console.WriteLine(Report(() => HostPlatform.Current.Open(args[0]).Dispose()));
        Console.WriteLine(Report(() => HostPlatform.Current.CreateUnnamed(Path.GetDirectoryName(args[0])!, "x").Dispose()));
    }

    /// <summary>PATH: becomes a user without rights if it can, opens the store, and prints the type of the exception.</summary>
    public static void OpenStoreAsOtherUser(string[] args)
    {
        if (Environment.IsPrivilegedProcess)
        {
            BecomeNobody();
        }

        Console.WriteLine(Report(() => CairnStore.Open(new StoreOptions { Path = args[0] }).Dispose()));
    }

    /// <summary>DIRECTORY BYTES LIMIT: sets the maximum file size, preallocates more, and prints the type of the exception.</summary>
    public static void PreallocateWithLimit(string[] args)
    {
        using StoreFile file = HostPlatform.Current.CreateUnnamed(args[0], "limited");
        ulong limit = ulong.Parse(args[2], CultureInfo.InvariantCulture);
        LimitFileSize(limit);
        Console.WriteLine(Report(() => file.Preallocate(0, long.Parse(args[1], CultureInfo.InvariantCulture))));
        Console.WriteLine(file.Length);
        LimitFileSize(ulong.MaxValue); // A collector of coverage writes a file when the process ends.
    }

    /// <summary>PATH: maps the file, prints "waiting", waits while the first word is 0, and prints the result.</summary>
    public static unsafe void WaitOnWord(string[] args)
    {
        using StoreFile file = HostPlatform.Current.Open(args[0]);
        MappedRegion region = file.Map(file.Length, writable: true);
        Console.WriteLine("waiting");
        Console.WriteLine(HostPlatform.Current.WaitOnAddress((uint*)region.Address, 0, TimeSpan.FromMinutes(1)));
    }

    /// <summary>Limits the size of files that this process writes.</summary>
    public static void LimitFileSize(ulong bytes)
    {
        if (SetLimit(FileSizeLimit, [bytes, ulong.MaxValue]) != 0)
        {
            throw new InvalidOperationException($"setrlimit failed: {Marshal.GetLastPInvokeErrorMessage()}");
        }
    }

    private static void BecomeNobody()
    {
        _ = HostPlatform.Current;
        if (SetUser(OtherUser) != 0)
        {
            throw new InvalidOperationException($"setuid failed: {Marshal.GetLastPInvokeErrorMessage()}");
        }
    }

    private static string Report(Action action)
    {
        try
        {
            action();
            return "no exception";
        }
        catch (Exception e)
        {
            return $"{e.GetType().Name}: {e.Message}";
        }
    }

    [LibraryImport("libc", EntryPoint = "setuid", SetLastError = true)]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    private static partial int SetUser(uint user);

    [LibraryImport("libc", EntryPoint = "setrlimit", SetLastError = true)]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    private static partial int SetLimit(int resource, ulong[] softAndHard);
}
