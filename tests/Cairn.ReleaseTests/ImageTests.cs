using System.Diagnostics;
using System.Net.Security;
using System.Net.Sockets;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using System.Text.Json;

namespace Cairn.ReleaseTests;

/// <summary>The OCI image, unpacked as a container engine does it, and run by chroot as its user.</summary>
public sealed class ImageTests(MadeBinaries made) : IClassFixture<MadeBinaries>
{
    // An engine mounts these two. The mounts end with the process, because it has a namespace of its own.
    private const string MountAndRun =
        """/bin/mount --rbind /proc "$0/proc" && /bin/mount --rbind /dev "$0/dev" && user=$1 && shift && exec /usr/sbin/chroot --userspec="$user" "$0" "$@" """;

    [ReleaseFact]
    public async Task Blobs_have_the_checksums_and_sizes_by_which_the_index_and_the_manifest_name_them()
    {
        using var directory = new TestDirectory();
        var (manifest, configuration) = await UnpackAsync(directory);
        var layer = manifest.GetProperty("layers").EnumerateArray().Single();
        var unpacked = await Release.RunAsync(directory.Path, "bash", "-c", $"gzip -dc blobs/sha256/{DigestOf(layer)} | sha256sum");

        Assert.All(Directory.GetFiles(directory["blobs/sha256"]), blob =>
            Assert.Equal(Path.GetFileName(blob), Convert.ToHexStringLower(SHA256.HashData(File.ReadAllBytes(blob)))));
        Assert.Equal(3, Directory.GetFiles(directory["blobs/sha256"]).Length);
        Assert.Equal(new FileInfo(directory[$"blobs/sha256/{DigestOf(layer)}"]).Length, layer.GetProperty("size").GetInt64());
        Assert.Equal($"sha256:{unpacked.Split(' ')[0]}", configuration.GetProperty("rootfs").GetProperty("diff_ids")[0].GetString());
        Assert.Equal(("amd64", "linux"), (configuration.GetProperty("architecture").GetString(), configuration.GetProperty("os").GetString()));
    }

    [ReleaseFact]
    public async Task Server_of_the_image_runs_as_its_user_on_its_own_files_and_answers_over_tls()
    {
        using var directory = new TestDirectory();
        var (manifest, configuration) = await UnpackAsync(directory);
        var settings = configuration.GetProperty("config");
        var root = Directory.CreateDirectory(directory["root"]).FullName;
        await Release.RunAsync(root, "tar", "--extract", "--gzip", "--same-owner", "--file", directory[$"blobs/sha256/{DigestOf(manifest.GetProperty("layers")[0])}"]);
        using var certificate = NewCertificate();
        var state = Path.Combine(root, "var/lib/cairn");
        await File.WriteAllTextAsync(Path.Combine(root, "tmp/server.pem"), certificate.ExportCertificatePem() + "\n" + certificate.GetRSAPrivateKey()!.ExportPkcs8PrivateKeyPem());
        var port = FreePorts.Take();
        var environment = settings.GetProperty("Env").EnumerateArray().Select(variable => variable.GetString()!.Split('=', 2)).ToDictionary(pair => pair[0], pair => pair[1], StringComparer.Ordinal);
        environment["CAIRN_MEMCACHED"] = "off";
        environment["CAIRN_HTTP"] = "off";
        environment["CAIRN_RESP"] = $"127.0.0.1:{port}";
        environment["CAIRN_CAPACITY"] = "64MiB";
        environment["CAIRN_TLS_CERTIFICATE"] = "/tmp/server.pem";
        var start = Release.StartOf(
            root, environment, "/usr/bin/unshare",
            ["--mount", "/bin/bash", "-c", MountAndRun, root, settings.GetProperty("User").GetString()!, .. Words(settings, "Entrypoint"), .. Words(settings, "Cmd")]);

        using var server = Process.Start(start)!;
        var errors = server.StandardError;
        var said = "";
        while (await errors.ReadLineAsync() is { } line && !line.Contains("Listening for resp", StringComparison.Ordinal))
        {
            said += line + "\n";
        }

        Assert.False(server.HasExited, said);
        var owner = (await File.ReadAllLinesAsync($"/proc/{server.Id}/status")).Single(line => line.StartsWith("Uid:", StringComparison.Ordinal)).Split('\t')[1];
        using (var client = new TcpClient())
        {
            await client.ConnectAsync("127.0.0.1", port);
            await using var stream = new SslStream(client.GetStream(), leaveInnerStreamOpen: false, (_, presented, _, _) => presented!.GetCertHashString() == certificate.GetCertHashString());
            await stream.AuthenticateAsClientAsync("localhost");
            await stream.WriteAsync("SET book:42 Dune\r\nGET book:42\r\nQUIT\r\n"u8.ToArray());
            using var reader = new StreamReader(stream);
            Assert.Equal("+OK\r\n$4\r\nDune\r\n+OK\r\n", await reader.ReadToEndAsync());
        }

        server.Kill();
        await server.WaitForExitAsync();

        Assert.NotEqual("0", owner);
        Assert.Equal(settings.GetProperty("User").GetString()!.Split(':')[0], owner);
        Assert.True(File.Exists(Path.Combine(state, "server.cairn")));
        Assert.Contains("BEGIN CERTIFICATE", await File.ReadAllTextAsync(Path.Combine(root, "etc/ssl/certs/ca-certificates.crt")), StringComparison.Ordinal);
    }

    private static X509Certificate2 NewCertificate()
    {
        using var key = RSA.Create(2048);
        var request = new CertificateRequest("CN=localhost", key, HashAlgorithmName.SHA256, RSASignaturePadding.Pkcs1);
        return request.CreateSelfSigned(DateTimeOffset.UtcNow.AddDays(-1), DateTimeOffset.UtcNow.AddDays(1));
    }

    private static IEnumerable<string> Words(JsonElement settings, string name) => settings.GetProperty(name).EnumerateArray().Select(word => word.GetString()!);

    private static string DigestOf(JsonElement descriptor) => descriptor.GetProperty("digest").GetString()!["sha256:".Length..];

    private async Task<(JsonElement Manifest, JsonElement Configuration)> UnpackAsync(TestDirectory directory)
    {
        await Release.RunAsync(directory.Path, "tar", "--extract", "--file", made.Image);
        Assert.Equal("""{"imageLayoutVersion":"1.0.0"}""", await File.ReadAllTextAsync(directory["oci-layout"]));
        var manifest = await ReadAsync($"blobs/sha256/{DigestOf((await ReadAsync("index.json")).GetProperty("manifests")[0])}");
        return (manifest, await ReadAsync($"blobs/sha256/{DigestOf(manifest.GetProperty("config"))}"));

        async Task<JsonElement> ReadAsync(string name)
        {
            using var document = JsonDocument.Parse(await File.ReadAllTextAsync(directory[name]));
            return document.RootElement.Clone();
        }
    }
}
