using System.Diagnostics;
using System.Runtime.InteropServices;

namespace Cairn.Testing;

/// <summary>A file system for one test, mounted on a new directory until the test ends.</summary>
internal sealed partial class TestMount : IDisposable
{
    private const ulong NoSuid = 2;
    private const ulong NoDevices = 4;
    private const ulong ReadOnlyFlag = 1;
    private const ulong Remount = 32;
    private const int Detach = 2;
    private const int Busy = 16; // EBUSY
    private const int ReadWrite = 2;
    private const int CloseOnExec = 0x80000;

    private readonly TestDirectory _directory = new();
    private readonly TestDirectory? _imageDirectory;
    private readonly int _fuseDescriptor = -1;

    private TestMount(string kind, string options)
    {
        if (Mount("cairn-test", Path, kind, NoSuid | NoDevices, options) != 0)
        {
            throw Failure($"mount -t {kind} -o {options}");
        }
    }

    private TestMount(int fuseDescriptor, string options)
        : this("fuse", options) => _fuseDescriptor = fuseDescriptor;

    // Mounts a file system that is stored in a file. mount(8) finds a loop device, and releases it when the file system is unmounted.
    private TestMount(TestDirectory imageDirectory, string image)
    {
        _imageDirectory = imageDirectory;
        Run("mount", "-o", "loop", image, Path);
    }

    public string Path => _directory.Path;

    public string this[string name] => _directory[name];

    /// <summary>Gets the reason why this process cannot mount, or null if it can.</summary>
    public static string? WhyNot { get; } = FindWhyNot();

    public static TestMount Tmpfs(long bytes) => new("tmpfs", $"size={bytes}");

    /// <summary>Mounts a file system in memory that cannot reserve space.</summary>
    public static TestMount Ramfs() => new("ramfs", "mode=0700");

    public static TestMount Ext4(long bytes)
    {
        var directory = new TestDirectory(TestDirectory.OfMemory); // On a disk, each flush of the file system would wait for it.
        string image = directory["image"];
        using (FileStream file = File.Create(image))
        {
            file.SetLength(bytes);
        }

        Run("mkfs.ext4", "-q", "-O", "^has_journal", image);
        return new TestMount(directory, image);
    }

    /// <summary>
    /// Mounts a FUSE file system of another user. No process serves it. The kernel itself returns the kind of the file system, and refuses all other calls.
    /// </summary>
    public static TestMount Fuse()
    {
        int descriptor = Open("/dev/fuse", ReadWrite | CloseOnExec);
        return descriptor >= 0
            ? new TestMount(descriptor, $"fd={descriptor},rootmode=40000,user_id=12345,group_id=12345")
            : throw Failure("open /dev/fuse");
    }

    /// <summary>Lets the kernel refuse further writes. No process may have a file open for writing.</summary>
    public void MakeReadOnly()
    {
        // The kernel refuses the remount until each call that writes has returned, such as the rename that made a file visible to this process.
        var wait = default(SpinWait);
        long startedAt = Environment.TickCount64;
        while (Mount("cairn-test", Path, "tmpfs", NoSuid | NoDevices | Remount | ReadOnlyFlag, "") != 0)
        {
            if (Marshal.GetLastPInvokeError() != Busy || Environment.TickCount64 - startedAt > 30_000)
            {
                throw Failure("mount -o remount,ro");
            }

            wait.SpinOnce();
        }
    }

    public void Dispose()
    {
        if (Unmount(Path, Detach) != 0)
        {
            throw Failure("umount");
        }

        if (_fuseDescriptor >= 0)
        {
            _ = Close(_fuseDescriptor);
        }

        _imageDirectory?.Dispose();
        _directory.Dispose();
    }

    private static string? FindWhyNot()
    {
        if (!OperatingSystem.IsLinux())
        {
            return "mounts of Linux";
        }

        try
        {
            Tmpfs(65536).Dispose();
            return null;
        }
        catch (InvalidOperationException e)
        {
            return e.Message;
        }
    }

    private static void Run(string program, params string[] arguments)
    {
        using Process process = Process.Start(program, arguments);
        process.WaitForExit();
        if (process.ExitCode != 0)
        {
            throw new InvalidOperationException($"{program} {string.Join(' ', arguments)}: exit code {process.ExitCode}");
        }
    }

    private static InvalidOperationException Failure(string what) =>
        new($"{what}: {Marshal.GetLastPInvokeErrorMessage()}");

    [LibraryImport("libc", EntryPoint = "mount", SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    private static partial int Mount(string source, string target, string kind, ulong flags, string options);

    [LibraryImport("libc", EntryPoint = "umount2", SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    private static partial int Unmount(string target, int flags);

    [LibraryImport("libc", EntryPoint = "open", SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    private static partial int Open(string path, int flags);

    [LibraryImport("libc", EntryPoint = "close", SetLastError = true)]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    private static partial int Close(int descriptor);
}
