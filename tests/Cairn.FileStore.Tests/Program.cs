using Cairn.FileStore.Tests.Processes;

namespace Cairn.FileStore.Tests;

/// <summary>
/// The roles of this assembly as the second process of a test (see ChildProcess). The first argument names the role. The other arguments belong to
/// the role.
/// </summary>
internal static class Program
{
    private static readonly Dictionary<string, Action<string[]>> Roles = new(StringComparer.Ordinal)
    {
        ["answer"] = FileStoreRoles.Answer,
        ["hold-turn"] = FileStoreRoles.HoldTurn,
        ["write-forever"] = FileStoreRoles.WriteForever,
        ["write-many"] = FileStoreRoles.WriteMany,
    };

    private static int Main(string[] args) => TestRoles.Run(Roles, args);
}
