using Cairn.Tests.Maps;
using Cairn.Tests.Platform;

namespace Cairn.Tests;

/// <summary>Runs this assembly as a child process of a test (see ChildProcess). The first argument names the role; the others are the
/// role's arguments.</summary>
internal static class Program
{
    private static readonly Dictionary<string, Action<string[]>> Roles = new(StringComparer.Ordinal)
    {
        ["die-at"] = StoreRoles.DieAt,
        ["end-with-map"] = MapRoles.EndWithMap,
        ["grow-with-limit"] = StoreRoles.GrowWithLimit,
        ["hold-byte"] = PlatformRoles.HoldByte,
        ["hold-lease"] = StoreRoles.HoldLease,
        ["hold-map"] = MapRoles.HoldMap,
        ["hold-partitions"] = StoreRoles.HoldPartitions,
        ["hold-pins"] = StoreRoles.HoldPins,
        ["hold-store"] = StoreRoles.HoldStore,
        ["hold-temporary-name"] = PlatformRoles.HoldTemporaryName,
        ["hold-unnamed-file"] = PlatformRoles.HoldUnnamedFile,
        ["open-as-other-user"] = PlatformRoles.OpenAsOtherUser,
        ["open-store-as-other-user"] = PlatformRoles.OpenStoreAsOtherUser,
        ["preallocate-with-limit"] = PlatformRoles.PreallocateWithLimit,
        ["run-tests"] = TestsByName.Run,
        ["use-sparse-copy"] = StoreRoles.UseSparseCopy,
        ["wait-on-word"] = PlatformRoles.WaitOnWord,
        ["write-encrypted"] = StoreRoles.WriteEncrypted,
    };

    private static int Main(string[] args) => TestRoles.Run(Roles, args);
}
