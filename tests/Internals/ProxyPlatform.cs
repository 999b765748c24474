using Cairn.Platform;
using Microsoft.Win32.SafeHandles;

namespace Cairn.Testing;

/// <summary>A platform that forwards all calls to that of the system. A test's own platform derives from it to observe calls, or to make them fail.</summary>
internal abstract unsafe class ProxyPlatform : StorePlatform
{
    public override string BootId => Real.BootId;

    public override int PageSize => Real.PageSize;

    public override long? MemoryLimitBytes => Real.MemoryLimitBytes;

    protected StorePlatform Real { get; } = HostPlatform.Current;

    /// <summary>Runs a function on this platform.</summary>
    public T On<T>(Func<T> action)
    {
        HostPlatform.Override = this;
        try
        {
            return action();
        }
        finally
        {
            HostPlatform.Override = null;
        }
    }

    public override StoreFile Open(string path) => Real.Open(path);

    public override StoreFile OpenReadOnly(string path) => Real.OpenReadOnly(path);

    public override bool IsSpecialFile(string path) => Real.IsSpecialFile(path);

    public override StoreFile CreateUnnamed(string directory, string nameHint) => Real.CreateUnnamed(directory, nameHint);

    public override StoreFile? TryCreate(string path) => Real.TryCreate(path);

    public override void Delete(string path) => Real.Delete(path);

    public override IReadOnlyList<string> ListNames(string directory, string prefix) => Real.ListNames(directory, prefix);

    public override void FlushDirectory(string directory) => Real.FlushDirectory(directory);

    public override void FlushFile(SafeFileHandle file, string what) => Real.FlushFile(file, what);

    public override void RequireSupportedFileSystem(string path) => Real.RequireSupportedFileSystem(path);

    public override bool WaitOnAddress(uint* address, uint expected, TimeSpan timeout) => Real.WaitOnAddress(address, expected, timeout);

    public override void WakeByAddress(uint* address, bool all) => Real.WakeByAddress(address, all);
}
