using System.Reflection;
using Cairn.Platform;
using Cairn.Platform.Linux;

namespace Cairn.Tests.Platform;

/// <summary>The interface between the store and the operating system.</summary>
public sealed class SeamTests
{
    [Theory]
    [InlineData(typeof(StorePlatform))]
    [InlineData(typeof(StoreFile))]
    [InlineData(typeof(MappedRegion))]
    public void Nothing_of_one_system_passes_through_the_seam(Type seam)
    {
        const BindingFlags All =
            BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.Instance | BindingFlags.Static |
            BindingFlags.DeclaredOnly;
        IEnumerable<Type> mentioned = seam.GetMethods(All)
            .SelectMany(method => method.GetParameters().Select(p => p.ParameterType).Append(method.ReturnType))
            .Concat(seam.GetFields(All).Select(field => field.FieldType));

        Assert.DoesNotContain(mentioned, type => type.Namespace?.StartsWith("Cairn.Platform.", StringComparison.Ordinal) == true);
    }

    [Fact]
    public void Boot_id_is_the_machines_and_stays_the_same()
    {
        string bootId = HostPlatform.Current.BootId;

        Assert.Equal(36, bootId.Length);
        Assert.Equal(File.ReadAllText("/proc/sys/kernel/random/boot_id").Trim(), bootId);
        Assert.Equal(bootId, new LinuxPlatform().BootId);
    }

    [Fact]
    public void Boot_id_that_could_not_be_read_once_is_read_again()
    {
        using var directory = new TestDirectory();
        const string BootId = "11111111-2222-3333-4444-555555555555";
        var platform = new LinuxPlatform(directory["boot_id"]);

        StoreException failure = Assert.Throws<StoreException>(() => platform.BootId);
        File.WriteAllText(directory["boot_id"], BootId);

        Assert.Contains("Mount /proc", failure.Message, StringComparison.Ordinal);
        Assert.Equal(BootId, platform.BootId);
    }

    [Fact]
    public async Task Boot_id_override_ends_with_the_flow_that_set_it()
    {
        const string Other = "00000000-0000-0000-0000-000000000000";

        string inFlow = await Task.Run(() =>
        {
            StorePlatform.BootIdOverride = Other;
            return HostPlatform.Current.BootId;
        });

        Assert.Equal(Other, inFlow);
        Assert.NotEqual(Other, HostPlatform.Current.BootId);
    }

    [Fact]
    public void Page_is_a_power_of_two_of_at_least_4_kib()
    {
        Assert.InRange(HostPlatform.Current.PageSize, 4096, 1 << 20);
        Assert.Equal(1, System.Numerics.BitOperations.PopCount((uint)HostPlatform.Current.PageSize));
    }
}
