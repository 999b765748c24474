using System.Globalization;
using System.Runtime.InteropServices;
using Cairn.Platform;
using Cairn.Platform.Linux;

namespace Cairn.Tests.Platform;

/// <summary>What the second process of a platform test does.</summary>
internal static partial class PlatformRoles
{
    private const uint Nobody = 65534;
    private const int FileSizeLimit = 1; // RLIMIT_FSIZE

    /// <summary>PATH OFFSET: locks the byte, says "held", keeps it until the input ends.</summary>
    public static void HoldByte(string[] args)
    {
        using StoreFile file = StorePlatform.Current.Open(args[0]);
        Console.WriteLine(file.TryLockByte(long.Parse(args[1], CultureInfo.InvariantCulture)) ? "held" : "refused");
        Console.ReadLine();
    }

    /// <summary>DIRECTORY NAME: creates a file under a temporary name, says "created", keeps it until the input ends.</summary>
    public static void HoldTemporaryName(string[] args)
    {
        using StoreFile file = LinuxPlatform.CreateTemporarilyNamed(args[0], args[1]);
        Console.WriteLine("created");
        Console.ReadLine();
    }

    /// <summary>DIRECTORY NAME: the same with a file that has no name at all.</summary>
    public static void HoldUnnamedFile(string[] args)
    {
        using StoreFile file = StorePlatform.Current.CreateUnnamed(args[0], args[1]);
        file.Preallocate(0, 1 << 20);
        Console.WriteLine("created");
        Console.ReadLine();
    }

    /// <summary>PATH: becomes a user without rights, opens the file, says which exception that gave.</summary>
    public static void OpenAsNobody(string[] args)
    {
        BecomeNobody();
        Console.WriteLine(Report(() => StorePlatform.Current.Open(args[0]).Dispose()));
        Console.WriteLine(Report(() => StorePlatform.Current.CreateUnnamed(Path.GetDirectoryName(args[0])!, "x").Dispose()));
    }

    /// <summary>PATH: becomes a user without rights if it may, opens the store, says which exception that gave.</summary>
    public static void OpenStoreAsNobody(string[] args)
    {
        if (Environment.IsPrivilegedProcess)
        {
            BecomeNobody();
        }

        Console.WriteLine(Report(() => CairnStore.Open(new StoreOptions { Path = args[0] }).Dispose()));
    }

    /// <summary>DIRECTORY BYTES LIMIT: sets the largest size of a file, preallocates more, says which exception that gave.</summary>
    public static void PreallocateWithLimit(string[] args)
    {
        using StoreFile file = StorePlatform.Current.CreateUnnamed(args[0], "limited");
        ulong limit = ulong.Parse(args[2], CultureInfo.InvariantCulture);
        LimitFileSize(limit);
        Console.WriteLine(Report(() => file.Preallocate(0, long.Parse(args[1], CultureInfo.InvariantCulture))));
        Console.WriteLine(file.Length);
    }

    /// <summary>PATH: maps the file, says "waiting", waits on its first word while that is 0, says what came of it.</summary>
    public static unsafe void WaitOnWord(string[] args)
    {
        using StoreFile file = StorePlatform.Current.Open(args[0]);
        MappedRegion region = file.Map(file.Length, writable: true);
        Console.WriteLine("waiting");
        Console.WriteLine(StorePlatform.Current.WaitOnAddress((uint*)region.Address, 0, TimeSpan.FromMinutes(1)));
    }

    /// <summary>The longest that a file may become by this process.</summary>
    public static void LimitFileSize(ulong bytes)
    {
        if (SetLimit(FileSizeLimit, [bytes, bytes]) != 0)
        {
            throw new InvalidOperationException($"setrlimit failed: {Marshal.GetLastPInvokeErrorMessage()}");
        }
    }

    private static void BecomeNobody()
    {
        _ = StorePlatform.Current;
        if (SetUser(Nobody) != 0)
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
